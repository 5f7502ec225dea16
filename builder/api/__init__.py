"""The HTTP API: JSON views that parse, call one function and answer. They hold no rule about playbooks."""

from ninja import NinjaAPI
from ninja.security import django_auth

from builder import __version__
from builder.api import agents, connections, files, me, playbooks, versions
from builder.api.bodies import StrictParser
from builder.api.errors import answer_errors
from runtime import views as sessions

api = NinjaAPI(
    title="Playbook Studio",
    version=__version__,
    auth=django_auth,
    parser=StrictParser(),
    docs_url=None,
    openapi_url=None,
)
answer_errors(api)
api.add_router("/me", me.router)
api.add_router("/playbooks", agents.router)  # before {id}, which takes any word
api.add_router("/playbooks", playbooks.router)
api.add_router("/playbooks", versions.router)
api.add_router("/sessions", sessions.router)
api.add_router("/connections", connections.router)
api.add_router("", files.router)

__all__ = ["api"]
