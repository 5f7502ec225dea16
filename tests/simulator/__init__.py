"""Simulated providers, strict enough to trust: Anthropic Messages, OpenAI Responses, Chat Completions."""

from tests.simulator.clock import ManualClock, RealClock
from tests.simulator.script import Call, Fault, Reply, Say, Think, calls, say
from tests.simulator.server import serving
from tests.simulator.simulator import Simulator

__all__ = [
    "Call",
    "Fault",
    "ManualClock",
    "RealClock",
    "Reply",
    "Say",
    "Simulator",
    "Think",
    "calls",
    "say",
    "serving",
]
