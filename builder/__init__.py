"""Edits playbooks: the Django app that stores, checks, imports and exports them, and the site's wiring."""

__version__ = "0.1.0"
