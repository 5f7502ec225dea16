"""RehearsalLLM: plays a model's part by fixed rules, so that a playbook runs without a key. Not a model."""

from runtime.llm.rehearsal.model import REHEARSAL, RehearsalLLM

__all__ = ["REHEARSAL", "RehearsalLLM"]
