"""When a failed call is tried again, and after how long."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.llm.base import LLMError
from runtime.runner.ports import Random


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """1 s, 2 s, 4 s … with jitter; what the provider asks for (`Retry-After`) goes before."""

    retries: int = 3
    base_s: float = 1.0
    jitter: float = 0.25
    """Share of the wait that chance may add."""

    def wait(self, error: LLMError, attempt: int, rng: Random, remaining_s: float) -> float | None:
        """Seconds to wait after the failed `attempt` (from 1); None: it is not tried again.

        By the error's type only, never by the text of its message; and never past the turn's deadline.
        """
        if not error.retryable or attempt > self.retries:
            return None
        if error.retry_after is not None:
            seconds = max(error.retry_after, 0.0)
        else:
            seconds = self.base_s * 2 ** (attempt - 1) * (1 + self.jitter * rng.random())
        return seconds if seconds < remaining_s else None
