"""Puts a session together for this process: its playbook and log with the models, the tools and the clock.

The one place where the live side chooses a model's connection.
"""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from runtime.commands import RunnerSession
from runtime.llm.rehearsal import RehearsalLLM
from runtime.llm.source import Connections
from runtime.runner.clock import SystemClock
from runtime.runner.ports import LLMSource
from runtime.runner.session import Session
from runtime.storage import DjangoEventStore, LoadedSession
from runtime.tools import ToolBox


@lru_cache(maxsize=1)
def connections() -> Connections:
    """The connections that this process uses, read once."""
    return make_connections(settings.STUDIO.rehearsal_delay_ms / 1000)


def make_connections(word_delay_s: float) -> Connections:
    """Those of the environment and of the operator's file; the rehearsal waits so long before each word."""
    return Connections.of(settings.STUDIO.connections_path, rehearsal=RehearsalLLM(word_delay_s=word_delay_s))


def build(stored: LoadedSession, store: DjangoEventStore) -> RunnerSession:
    """The session on this process's own connections."""
    return session_on(connections(), stored, store)


def session_on(llms: LLMSource, stored: LoadedSession, store: DjangoEventStore) -> Session:
    """The session on these models."""
    return Session(
        stored.playbook,
        llms=llms,
        tools=ToolBox(),
        store=store,
        clock=SystemClock(),
        session_id=str(stored.row.pk),
        state=stored.state,
        agents=stored.agents,
    )
