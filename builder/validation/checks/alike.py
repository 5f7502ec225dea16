"""similar-prompts, one-stage-would-do, ping-pong: advice on stages that could be fewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import ceil
from string import punctuation
from typing import Final

from builder.validation.diagnostics import Diagnostic, advice
from builder.validation.outline import ANY_STAGE, Outline
from builder.validation.pointers import pointer
from runtime.playbook import (
    CustomCondition,
    IntentCondition,
    KeywordCondition,
    LLMDecisionCondition,
    MaxTurnsCondition,
    Stage,
    Transition,
)

ALIKE: Final = 0.85
"""Share of the words (of both prompts together) that both have."""
FEWEST_WORDS: Final = 20
MOST_PROMPTS: Final = 2_000
"""Prompts that are looked at: the first ones. Nobody reads this advice for ten thousand stages."""
MOST_FOR_ONE: Final = 20
MOST_COMPARED: Final = 10_000
"""Pairs of prompts that are compared for one of them, and in one playbook."""
_NO_MARKS: Final = str.maketrans(dict.fromkeys(punctuation, " "))


def check(outline: Outline) -> Iterator[Diagnostic]:
    """Nothing here keeps anything from working."""
    yield from _similar(outline)
    yield from _chains(outline)
    yield from _ping_pong(outline)


def _similar(outline: Outline) -> Iterator[Diagnostic]:
    """Each prompt against those before it that are like no earlier one. Two sets of words that are that much
    alike share one of their rarest words: only prompts that do are compared."""
    stages = islice(outline.stages.values(), MOST_PROMPTS)
    words = {stage.id: _words(stage.system_prompt) for stage in stages}
    words = {key: found for key, found in words.items() if len(found) >= FEWEST_WORDS}
    spread: Counter[str] = Counter()
    for found in words.values():
        spread.update(found)
    by_frequency = sorted((word for word, count in spread.items() if count > 1), key=lambda w: (spread[w], w))
    rank = {word: place for place, word in enumerate(by_frequency)}
    by_word: dict[str, list[str]] = {}
    left = MOST_COMPARED
    for key, found in words.items():
        rarest = _rarest(found, rank)
        others = islice(_candidates(by_word, rarest), min(left, MOST_FOR_ONE))
        like = None
        for other in others:
            left -= 1
            if _alike(found, words[other]):
                like = other
                break
        if like is not None:
            yield _similar_prompts(outline, outline.stages[key], outline.stages[like], found, words[like])
        else:
            for word in rarest:
                by_word.setdefault(word, []).append(key)


def _rarest(found: frozenset[str], rank: Mapping[str, int]) -> list[str]:
    """Of as many of its rarest words as two such sets cannot all differ in, those that others have too."""
    shared = found & rank.keys()
    count = len(found) - ceil(ALIKE * len(found)) + 1 - (len(found) - len(shared))
    return sorted(shared, key=rank.__getitem__)[:count] if count > 0 else []


@lru_cache(maxsize=1024)
def _words(prompt: str) -> frozenset[str]:
    return frozenset(prompt.casefold().translate(_NO_MARKS).split())


def _candidates(by_word: dict[str, list[str]], rarest: Sequence[str]) -> Iterator[str]:
    """Stages that have one of the words, those of the rarest word first, each once."""
    seen: set[str] = set()
    for word in rarest:
        for key in by_word.get(word, ()):
            if key not in seen:
                seen.add(key)
                yield key


def _alike(one: frozenset[str], two: frozenset[str]) -> bool:
    shared = len(one & two)
    return shared >= ALIKE * (len(one) + len(two) - shared)


def _similar_prompts(
    outline: Outline, stage: Stage, other: Stage, one: frozenset[str], two: frozenset[str]
) -> Diagnostic:
    share = 100 * len(one & two) // len(one | two)
    message = (
        f"The prompts of “{stage.name}” and “{other.name}” share {share} % of their words. One stage with a "
        "variable, or a common part in the playbook's prompt, is easier to keep right."
    )
    path, related = outline.stage_path(stage, "systemPrompt"), (outline.stage_path(other, "systemPrompt"),)
    return advice("similar-prompts", message, path, related=related, stage=stage.id)


def _chains(outline: Outline) -> Iterator[Diagnostic]:
    """A stage whose only way is into one that nothing else leads to, both with the same settings."""
    sources = Counter(rule.action.target_stage for _, rule in outline.rules)
    for key, items in outline.own_rules.items():
        if len(items) != 1 or key not in outline.stages:
            continue
        index, rule = items[0]
        target = outline.stages.get(rule.action.target_stage or "")
        single = (
            target is not None and sources[target.id] == 1 and target.id != outline.playbook.initial_stage
        )
        if (
            target is not None
            and single
            and target.id != key
            and _plain(rule)
            and _same(outline.stages[key], target)
        ):
            stage = outline.stages[key]
            message = (
                f"“{stage.name}” leads only to “{target.name}”, nothing else leads there, and both have the "
                "same tools and settings: one stage with both prompts would do."
            )
            related = (outline.stage_path(target), pointer("transitions", index))
            yield advice("one-stage-would-do", message, outline.stage_path(stage), related=related, stage=key)


def _plain(rule: Transition) -> bool:
    """A move that does nothing on the way and needs no event of its own."""
    action = rule.action
    quiet = not (action.clear_history or action.data or action.transition_message)
    decided = isinstance(rule.condition, LLMDecisionCondition | MaxTurnsCondition)
    return action.mode == "goto" and quiet and decided


def _same(one: Stage, two: Stage) -> bool:
    """Whether two stages differ in nothing but their names, prompts and places."""
    bare = one.kind == two.kind == "chat" and not (one.on_enter or one.on_exit or two.on_enter or two.on_exit)
    limits = one.max_turns or one.timeout_ms or two.max_turns or two.timeout_ms or two.speak_on_enter
    return bare and not limits and _settings(one) == _settings(two)


def _settings(stage: Stage) -> tuple[object, ...]:
    tools = sorted(tool.name for tool in stage.tools)
    return (tools, stage.tool_choice, stage.llm_config, stage.context, stage.two_phase_execution)


def _ping_pong(outline: Outline) -> Iterator[Diagnostic]:
    """Two stages that users and the model send back and forth, one of which leads nowhere else: calling it
    would bring the conversation back by itself, and fold the visit up."""
    ways = {key: _ways(items) for key, items in outline.own_rules.items()}
    for key, targets in ways.items():
        if len(targets) != 1 or key not in outline.stages or outline.stages[key].kind != "chat":
            continue
        hub = next(iter(targets))
        back = ways.get(hub, {})
        if hub == key or hub not in outline.stages or key not in back:
            continue
        if not (targets[hub] and back[key]) or (
            len(back) == 1 and _index(outline, hub) < _index(outline, key)
        ):
            continue
        yield _sent_back(outline, outline.stages[key], outline.stages[hub], other_ways=len(back) > 1)


def _index(outline: Outline, key: str) -> int:
    return outline.index_of(outline.stages[key])


def _ways(items: Sequence[tuple[int, Transition]]) -> dict[str, bool]:
    """Target -> whether only what somebody says or decides leads there. Calls come back by themselves."""
    found: dict[str, bool] = {}
    for _, rule in items:
        target = rule.action.target_stage or ANY_STAGE
        if rule.action.mode == "call":
            continue
        said = rule.action.mode == "goto" and isinstance(
            rule.condition, LLMDecisionCondition | KeywordCondition | IntentCondition | CustomCondition
        )
        found[target] = found.get(target, True) and said
    return found


def _sent_back(outline: Outline, stage: Stage, hub: Stage, *, other_ways: bool) -> Diagnostic:
    if other_ways:
        message = (
            f"“{stage.name}” leads only back to “{hub.name}”. Called (mode `call`, and `return`), it would "
            "come back by itself, and its details would be folded into a summary."
        )
    else:
        message = (
            f"“{stage.name}” and “{hub.name}” hand over to each other and nowhere else: "
            "one of them could be called (mode `call`, and `return`), or both could be one stage."
        )
    path, related = outline.stage_path(stage), (outline.stage_path(hub),)
    return advice("ping-pong", message, path, related=related, stage=stage.id)
