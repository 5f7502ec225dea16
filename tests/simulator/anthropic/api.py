"""Anthropic's Messages API: from a request to a checked one, from a reply to its events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulator.answers import Answering, Event, HttpRequest, Json, Prepared, Refusal, compact, read_json
from tests.simulator.anthropic import rules_messages, rules_settings, streaming
from tests.simulator.anthropic.caching import cache_blocks
from tests.simulator.anthropic.checking import VERSIONS, Checked, Rule, generation
from tests.simulator.anthropic.conversation import conversation, unmarked
from tests.simulator.anthropic.schema import field_errors
from tests.simulator.anthropic.thinking import verify
from tests.simulator.profiles import Profiles
from tests.simulator.script import Call, Say, Think
from tests.simulator.shaping import ShapedPart
from tests.simulator.signing import Who, extend, sign

BIGGEST_BODY: Final = 32 * 1024 * 1024
ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("A04", rules_messages.documents),
    ("A07", rules_settings.max_tokens),
    ("A08", rules_messages.roles),
    ("A09", rules_messages.system_messages),
    ("A10", rules_messages.empty_content),
    ("A11", rules_messages.prefill),
    ("A12", rules_settings.tools),
    ("A13", rules_settings.tool_choice),
    ("A14", rules_messages.call_ids),
    ("A15", rules_messages.results_follow),
    ("A16", rules_messages.results_belong),
    ("A17", rules_settings.thinking),
)
"""What is checked before thinking (A18), marks (A19) and length (A20)."""


@dataclass(frozen=True, slots=True)
class Extra:
    """What the answer needs to know of the request."""

    who: Who
    prefix: str
    thinks: bool
    shows_thinking: bool
    dropped: tuple[str, ...]


class AnthropicApi:
    """`POST /v1/messages` and `POST /v1/messages/count_tokens`."""

    name = "messages"
    ping = Event({"type": "ping"}, "ping")
    id_header = "request-id"
    counts_reads = False
    rate_rule = "A21"
    prewarmed_stop = "max_tokens"

    def __init__(self, profiles: Profiles) -> None:
        self._profiles = profiles
        self._paused: set[str] = set()

    # -- requests -------------------------------------------------------------------------------------------

    def prepare(self, request: HttpRequest) -> Prepared:
        """The request, checked. Raises Refusal."""
        account = self._account(request)
        checked = self._checked(request, read_body(request))
        for rule, check in RULES:
            self._apply(rule, check, checked)
        who = Who(checked.model.id, f"{account} {checked.get('workspace_id') or ''}".strip())
        drops = checked.get("thinking", "block_binding", "prefix_mismatch_behavior") == "drop_block"
        binds = checked.model.binds_thinking
        verified = verify(
            checked.talk, who, self._profiles, binds=binds, drops=drops, keeps_all=_keeps_thinking(checked)
        )
        checked = replace(checked, talk=verified.talk)
        self._apply("A19", rules_settings.cache_marks, checked)
        display = checked.get("thinking", "display") or ("omitted" if binds else "summarized")
        thinks = checked.thinking != "disabled"
        extra = Extra(who, verified.prefix, thinks, display == "summarized", tuple(verified.dropped))
        return self._prepared(checked, who, extra)

    def _account(self, request: HttpRequest) -> str:
        try:
            account = self._profiles.account(request.headers)
        except KeyError:
            raise Refusal("A01", 401, "missing credentials") from None
        if account is None:
            raise Refusal("A01", 401, "invalid x-api-key")
        return account

    def _checked(self, request: HttpRequest, body: Json) -> Checked:
        """The request with its model, once its fields are well formed."""
        version, model_id = request.headers["anthropic-version"], str(body.get("model"))
        betas = frozenset(filter(None, request.headers.get("anthropic-beta", "").replace(" ", "").split(",")))
        counting = request.path.endswith("/count_tokens")
        unknown, wrong = field_errors(body, betas, counting=counting)
        if unknown and self._profiles.checks("A04", model_id):
            raise Refusal("A04", 400, unknown[0])
        fault = rules_settings.sampling(body, model_id, version)
        if fault is not None and self._profiles.checks("A05", model_id):
            raise Refusal("A05", 400, fault)
        model = self._profiles.find(model_id, "anthropic")
        if model is None and "model" in body:
            raise Refusal("A06", 404, f"model: {model_id}")
        if model is None or wrong:
            raise Refusal("A19" if "cache_control" in wrong[0] else "A04", 400, wrong[0])
        talk = conversation(body)
        paused = bool(talk.turns) and _fingerprint(talk.turns[-1].blocks) in self._paused
        return Checked(body, model, version, betas, talk, counting, paused)

    def _apply(self, rule: str, check: Rule, checked: Checked) -> None:
        if not self._profiles.checks(rule, checked.model.id):
            return
        fault = check(checked)
        if fault is not None:
            raise Refusal(rule, 400, fault)

    def _prepared(self, checked: Checked, who: Who, extra: Extra) -> Prepared:
        blocks, marks = cache_blocks(checked)
        tokens, window = sum(block.tokens for block in blocks), checked.model.window
        limit = 0 if checked.counting else checked.body["max_tokens"]
        limit_stop, too_long = "max_tokens", None
        if tokens > window:
            too_long = f"prompt is too long: {tokens} tokens > {window} maximum"
        elif tokens + limit > window and checked.generation < (4, 5):
            too_long = f"input length and `max_tokens` exceed context limit: {tokens} + {limit} > {window}"
        elif tokens + limit > window:
            limit, limit_stop = window - tokens, "model_context_window_exceeded"
        if too_long is not None and self._profiles.checks("A20", checked.model.id):
            raise Refusal("A20", 400, too_long)
        return Prepared(
            checked.body,
            checked.model,
            who.account,
            bool(checked.get("stream")),
            blocks,
            marks,
            output_limit=limit,
            limit_stop=limit_stop,
            stop_sequences=checked.get("stop_sequences") or (),
            extra={"messages": extra},
            only_caches=limit == 0,
        )

    # -- answers --------------------------------------------------------------------------------------------

    def counted(self, prepared: Prepared) -> Json:
        """The answer of `count_tokens`."""
        return {"input_tokens": prepared.input_tokens}

    def events(self, answering: Answering) -> Iterator[Event]:
        """The stream."""
        return streaming.events(answering, self._blocks(answering))

    def whole(self, answering: Answering) -> Json:
        """The reply in one object."""
        return streaming.message(answering, self._blocks(answering))

    def _blocks(self, answering: Answering) -> list[Json | None]:
        """The content block of each part; None for thinking that is switched off."""
        extra: Extra = answering.request.extra["messages"]
        prefix, blocks = extra.prefix, []
        for index, part in enumerate(answering.reply.parts):
            block = _block(part, f"toolu_sim{answering.number:04d}_{index}", extra, prefix)
            blocks.append(block)
            if block is not None:
                prefix = extend(prefix, "assistant", block)
        if answering.reply.stop == "pause_turn":
            self._paused.add(_fingerprint([block for block in blocks if block is not None]))
        return blocks

    def error(self, refusal: Refusal, number: int) -> Json:
        """The body of an error."""
        kind = refusal.kind or ERROR_TYPES.get(refusal.status, "api_error")
        error = {"type": kind, "message": refusal.message}
        return {"type": "error", "error": error, "request_id": f"req_sim{number:06d}"}

    def error_event(self, refusal: Refusal) -> Event:
        """The error inside a stream."""
        body = self.error(refusal, 0)
        return Event({"type": "error", "error": body["error"]}, "error")


def read_body(request: HttpRequest) -> Json:
    """The object in the body. Raises Refusal."""
    if len(request.body) > BIGGEST_BODY:
        raise Refusal("A02", 413, "Request exceeds the maximum size")
    if request.headers.get("anthropic-version") not in VERSIONS:
        raise Refusal("A03", 400, "anthropic-version: a known version is required")
    try:
        return read_json(request.body)
    except ValueError as error:
        raise Refusal("A03", 400, f"The request body is not valid JSON: {error}") from None


def _keeps_thinking(checked: Checked) -> bool:
    """Whether the model reads thinking of earlier turns."""
    oldest = {"haiku": (4, 6), "sonnet": (4, 6)}
    family = checked.model.id.split("-")[1] if checked.model.id.startswith("claude-") else ""
    return generation(checked.model.id) >= oldest.get(family, (4, 5))


def _fingerprint(blocks: list[Json]) -> str:
    return compact([unmarked(block) for block in blocks])


def _block(shaped: ShapedPart, call_id: str, extra: Extra, prefix: str) -> Json | None:
    match shaped.part:
        case Say():
            return {"type": "text", "text": shaped.whole}
        case Call(name=name, id=given):
            return {"type": "tool_use", "id": given or call_id, "name": name, "input": _input(shaped.whole)}
        case Think() if not extra.thinks:
            return None
        case Think(redacted=True):
            return {"type": "redacted_thinking", "data": sign(extra.who, prefix, "")}
        case Think():
            text = shaped.whole if extra.shows_thinking else ""
            return {"type": "thinking", "thinking": text, "signature": sign(extra.who, prefix, text)}


def _input(arguments: str) -> Json:
    """What the API makes of arguments that were cut off: what could be read of them, silently."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
