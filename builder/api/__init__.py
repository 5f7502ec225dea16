"""The HTTP API: JSON views that parse, call one function and answer. They hold no rule about playbooks."""

from ninja import NinjaAPI
from ninja.security import django_auth

api = NinjaAPI(title="Playbook Studio", version="1", auth=django_auth, docs_url=None)

__all__ = ["api"]
