"""What `manage.py` does before anything is installed: standard library only, no Django, no package of ours
outside this folder. It makes the environment, builds the frontend, then runs the command inside."""

from builder.config.bootstrap.commands import run

__all__ = ["run"]
