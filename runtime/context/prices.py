"""What a call costs, from its usage and the model's prices."""

from __future__ import annotations

from runtime.context.models import ModelRecord, Prices
from runtime.conversation.messages import Usage

MILLION = 1_000_000


def prices_for(model: ModelRecord, input_tokens: int) -> Prices | None:
    """The prices of a request of that size: the highest tier it passes holds for all its tokens."""
    passed = [tier for tier in model.tiers if input_tokens > tier.above]
    return max(passed, key=lambda tier: tier.above) if passed else model.prices


def price(usage: Usage | None, model: ModelRecord) -> float | None:
    """US dollars of one call; None is "unknown" (no usage, or no prices), never free."""
    prices = prices_for(model, usage.input) if usage is not None else None
    if usage is None or prices is None:
        return None
    return (
        usage.fresh * prices.input
        + usage.write5m * prices.write5m
        + usage.write1h * prices.write1h
        + usage.read * prices.read
        + usage.output * prices.output
    ) / MILLION


def price_without_caching(usage: Usage | None, model: ModelRecord) -> float | None:
    """What the same call would have cost with every input token at the plain price; None is "unknown"."""
    if usage is None:
        return None
    return price(Usage(fresh=usage.input, output=usage.output), model)
