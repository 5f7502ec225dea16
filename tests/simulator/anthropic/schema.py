"""The fields of a Messages request, at every level: anything else is refused (A04)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

BETA_FIELDS: Final = frozenset({"context_management", "compaction", "fallbacks", "thread", "mcp_servers"})
BINDING_BETA: Final = "thinking-binding-controls-2026-08-01"


class Strict(BaseModel):
    """No field but those named, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _text_as_blocks(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class CacheControl(Strict):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class Marked(Strict):
    cache_control: CacheControl | None = None


class Text(Marked):
    type: Literal["text"]
    text: str
    citations: list[Any] | None = None


class Image(Marked):
    type: Literal["image"]
    source: dict[str, Any]


class Document(Marked):
    type: Literal["document"]
    source: dict[str, Any]
    title: str | None = None
    context: str | None = None
    citations: dict[str, Any] | None = None


class SearchResult(Marked):
    type: Literal["search_result"]
    source: str
    title: str
    content: list[Text]
    citations: dict[str, Any] | None = None


class ToolReference(Marked):
    type: Literal["tool_reference"]
    tool_name: str


ResultBlock = Annotated[Text | Image | Document | SearchResult | ToolReference, Field(discriminator="type")]


class ToolResult(Marked):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[list[ResultBlock], BeforeValidator(_text_as_blocks)] = Field(default_factory=list)
    is_error: bool = False
    toolset_name: str | None = None


class ToolUse(Marked):
    type: Literal["tool_use"]
    id: str
    name: str
    input: Any  # that it is an object is rule A14
    caller: dict[str, Any] | None = None
    toolset_name: str | None = None


class Thinking(Strict):
    type: Literal["thinking"]
    thinking: str
    signature: str
    cache_control: Any = None  # that it has none is rule A19


class RedactedThinking(Strict):
    type: Literal["redacted_thinking"]
    data: str
    cache_control: Any = None


Block = Annotated[
    Text | Image | Document | SearchResult | ToolResult | ToolUse | Thinking | RedactedThinking,
    Field(discriminator="type"),
]


class Message(Strict):
    role: str  # which ones is rules A08 and A09
    content: Annotated[list[Block], BeforeValidator(_text_as_blocks)]


class CustomTool(Marked):
    type: Literal["custom"] | None = None
    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None
    eager_input_streaming: bool | None = None
    defer_loading: bool | None = None
    input_examples: list[dict[str, Any]] | None = None
    allowed_callers: list[str] | None = None


def _tool(value: Any) -> Any:
    """Tools of the provider have types and fields of their own, which nobody here uses."""
    named = isinstance(value, dict) and value.get("type") not in (None, "custom")
    return None if named else value


Tool = Annotated[CustomTool | None, BeforeValidator(_tool)]


class Auto(Strict):
    type: Literal["auto"]
    disable_parallel_tool_use: bool | None = None


class AnyTool(Strict):
    type: Literal["any"]
    disable_parallel_tool_use: bool | None = None


class NamedTool(Strict):
    type: Literal["tool"]
    name: str
    disable_parallel_tool_use: bool | None = None


class NoTool(Strict):
    type: Literal["none"]


ToolChoice = Annotated[Auto | AnyTool | NamedTool | NoTool, Field(discriminator="type")]
Display = Literal["summarized", "omitted"]


class Binding(Strict):
    prefix_mismatch_behavior: Literal["error", "drop_block"]


class Adaptive(Strict):
    type: Literal["adaptive"]
    display: Display | None = None
    block_binding: Binding | None = None


class Enabled(Strict):
    type: Literal["enabled"]
    budget_tokens: int
    display: Display | None = None
    block_binding: Binding | None = None


class Disabled(Strict):
    type: Literal["disabled"]


class BetweenTools(Strict):
    type: Literal["between_tools"]
    display: Display | None = None
    block_binding: Binding | None = None


ThinkingMode = Annotated[Adaptive | Enabled | Disabled | BetweenTools, Field(discriminator="type")]


class OutputFormat(Strict):
    model_config = ConfigDict(protected_namespaces=())
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Strict):
    effort: str | None = None  # which ones is rule A17
    format: OutputFormat | None = None


class Diagnostics(Strict):
    previous_message_id: str | None


class Metadata(Strict):
    user_id: str | None = None


class CountRequest(Strict):
    """`POST /v1/messages/count_tokens`."""

    model: str
    messages: list[Message] = Field(default_factory=list)
    system: Annotated[list[Text], BeforeValidator(_text_as_blocks)] = Field(default_factory=list)
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    thinking: ThinkingMode | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None
    speed: Literal["standard", "fast"] | None = None
    user_profile_id: str | None = None
    workspace_id: str | None = None


class MessagesRequest(CountRequest):
    """`POST /v1/messages`."""

    max_tokens: int | None = None
    stream: bool | None = None
    stop_sequences: list[str] | None = None
    # Whether these three are taken is rule A05.
    temperature: float | None = Field(default=None, strict=False)
    top_p: float | None = Field(default=None, strict=False)
    top_k: int | None = None
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    inference_geo: str | None = None
    container: Any = None
    diagnostics: Diagnostics | None = None


_MESSAGES: Final = TypeAdapter(MessagesRequest)
_COUNT: Final = TypeAdapter(CountRequest)


def field_errors(
    body: Mapping[str, Any], betas: frozenset[str], *, counting: bool
) -> tuple[list[str], list[str]]:
    """The unknown fields, and what is wrong with the known ones, in words."""
    known = {key: value for key, value in body.items() if not (betas and key in BETA_FIELDS)}
    thinking = body.get("thinking")
    unasked = isinstance(thinking, dict) and "block_binding" in thinking and BINDING_BETA not in betas
    unknown = ["thinking.block_binding: Extra inputs are not permitted"] if unasked else []
    try:
        (_COUNT if counting else _MESSAGES).validate_python(known)
    except ValidationError as error:
        found = error.errors()
        unknown += [_in_words(e) for e in found if e["type"] == "extra_forbidden"]
        return unknown, [_in_words(e) for e in found if e["type"] != "extra_forbidden"]
    return unknown, []


def _in_words(error: ErrorDetails) -> str:
    """`path.to.field: what is wrong`."""
    path = ".".join(str(step) for step in error["loc"] if not str(step).startswith("function-"))
    return f"{path}: {error['msg']}"
