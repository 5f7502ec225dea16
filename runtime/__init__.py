"""Runs playbooks: a plain core (playbook, conversation, engine, context, inspector) and a Django app around it."""
