"""The fields of OpenAI's requests, at every level: anything else is refused (O03)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import ErrorDetails

from tests.simulator.answers import Refusal

RULE: Final = "O03"
CODES: Final = {"extra_forbidden": "unknown_parameter", "missing": "missing_required_parameter"}


def _as_parts(kind: str) -> Callable[[Any], Any]:
    """A text alone is one part."""
    return lambda value: [{"type": kind, "text": value}] if isinstance(value, str) else value


def _as_items(value: Any) -> Any:
    """A text alone is a user's message."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class Strict(BaseModel):
    """No field but those named, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class Breakpoint(Strict):
    mode: Literal["explicit"]
    ttl: Literal["30m", "12h"] | None = None


class CacheOptions(Strict):
    mode: Literal["implicit", "explicit"] | None = None
    ttl: Literal["30m", "12h"] | None = None
    comparison_response_id: str | None = None
    prewarm: bool | None = None


class Common(Strict):
    """What both APIs take."""

    model: str
    stream: bool | None = None
    temperature: float | None = Field(default=None, strict=False)
    top_p: float | None = Field(default=None, strict=False)
    top_logprobs: int | None = None
    parallel_tool_calls: bool | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: CacheOptions | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None
    metadata: dict[str, str] | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    moderation: dict[str, Any] | None = None
    store: bool | None = None
    user: str | None = None
    tool_choice: Any = None


# -- Chat Completions ---------------------------------------------------------------------------------------


class ChatText(Strict):
    type: Literal["text"]
    text: str
    prompt_cache_breakpoint: Breakpoint | None = None


class ChatImage(Strict):
    type: Literal["image_url"]
    image_url: dict[str, Any]
    prompt_cache_breakpoint: Breakpoint | None = None


class ChatRefusal(Strict):
    type: Literal["refusal"]
    refusal: str


TextParts = Annotated[list[ChatText], BeforeValidator(_as_parts("text"))]
ChatPart = Annotated[ChatText | ChatImage, Field(discriminator="type")]
UserParts = Annotated[list[ChatPart], BeforeValidator(_as_parts("text"))]
SpokenPart = Annotated[ChatText | ChatRefusal, Field(discriminator="type")]
AssistantParts = Annotated[list[SpokenPart], BeforeValidator(_as_parts("text"))]


class Instructions(Strict):
    role: Literal["system", "developer"]
    content: TextParts
    name: str | None = None


class User(Strict):
    role: Literal["user"]
    content: UserParts
    name: str | None = None


class FunctionOfCall(Strict):
    name: str
    arguments: str


class ToolCall(Strict):
    id: str
    type: Literal["function"]
    function: FunctionOfCall


class Assistant(Strict):
    role: Literal["assistant"]
    content: AssistantParts | None = None
    refusal: str | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None


class ToolMessage(Strict):
    role: Literal["tool"]
    content: TextParts
    tool_call_id: str


ChatMessage = Annotated[Instructions | User | Assistant | ToolMessage, Field(discriminator="role")]


class Function(Strict):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChatTool(Strict):
    type: Literal["function"]
    function: Function


class StreamOptions(Strict):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class ChatRequest(Common):
    """`POST /v1/chat/completions`."""

    messages: list[ChatMessage]
    tools: list[ChatTool] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    stream_options: StreamOptions | None = None
    reasoning_effort: str | None = None
    response_format: dict[str, Any] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    seed: int | None = None
    n: int | None = None
    frequency_penalty: float | None = Field(default=None, strict=False)
    presence_penalty: float | None = Field(default=None, strict=False)
    logit_bias: dict[str, int] | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None


# -- Responses ----------------------------------------------------------------------------------------------


class InputText(Strict):
    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Breakpoint | None = None


class InputImage(Strict):
    type: Literal["input_image"]
    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None
    prompt_cache_breakpoint: Breakpoint | None = None


class OutputText(Strict):
    type: Literal["output_text"]
    text: str
    annotations: list[Any] | None = None
    logprobs: list[Any] | None = None
    prompt_cache_breakpoint: Breakpoint | None = None


class OutputRefusal(Strict):
    type: Literal["refusal"]
    refusal: str


InputPart = Annotated[InputText | InputImage, Field(discriminator="type")]
OutputPart = Annotated[OutputText | OutputRefusal, Field(discriminator="type")]
InputParts = Annotated[list[InputPart], BeforeValidator(_as_parts("input_text"))]
OutputParts = Annotated[list[OutputPart], BeforeValidator(_as_parts("output_text"))]


class Item(Strict):
    id: str | None = None
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class InputMessage(Item):
    type: Literal["message"] | None = None
    role: Literal["user", "system", "developer"]
    content: InputParts


class OutputMessage(Item):
    type: Literal["message"] | None = None
    role: Literal["assistant"]
    content: OutputParts
    phase: Literal["commentary", "final_answer"] | None = None


class FunctionCall(Item):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    caller: Any = None
    namespace: str | None = None


class FunctionCallOutput(Item):
    type: Literal["function_call_output"]
    call_id: str
    output: InputParts
    caller: Any = None


class Reasoning(Item):
    type: Literal["reasoning"]
    summary: list[dict[str, str]]
    content: list[dict[str, str]] | None = None
    encrypted_content: str | None = None


class AdditionalTools(Item):
    type: Literal["additional_tools"]
    role: Literal["developer"]
    tools: list[dict[str, Any]]


class ConfigurationUpdate(Item):
    type: Literal["configuration_update"]
    reasoning: dict[str, Any] | None = None
    text: dict[str, Any] | None = None


def _kind(item: Any) -> str:
    """Messages need no type: their role tells."""
    if not isinstance(item, Mapping):
        return "input_message"
    kind = item.get("type", "message")
    if kind == "message":
        return "output_message" if item.get("role") == "assistant" else "input_message"
    return str(kind)


InputItem = Annotated[
    Annotated[InputMessage, Tag("input_message")]
    | Annotated[OutputMessage, Tag("output_message")]
    | Annotated[FunctionCall, Tag("function_call")]
    | Annotated[FunctionCallOutput, Tag("function_call_output")]
    | Annotated[Reasoning, Tag("reasoning")]
    | Annotated[AdditionalTools, Tag("additional_tools")]
    | Annotated[ConfigurationUpdate, Tag("configuration_update")],
    Discriminator(_kind),
]


class FunctionTool(Strict):
    type: Literal["function"]
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None
    strict: bool | None = None
    defer_loading: bool | None = None


class ReasoningOptions(Strict):
    effort: str | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    mode: str | None = None


class TextOptions(Strict):
    format: dict[str, Any] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class ResponsesRequest(Common):
    """`POST /v1/responses` and `POST /v1/responses/input_tokens`."""

    input: Annotated[list[InputItem], BeforeValidator(_as_items)]
    instructions: str | None = None
    tools: list[FunctionTool] | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    previous_response_id: str | None = None
    include: list[str] | None = None
    reasoning: ReasoningOptions | None = None
    text: TextOptions | None = None
    truncation: Literal["auto", "disabled"] | None = None
    background: bool | None = None
    context_management: list[dict[str, Any]] | None = None
    stream_options: StreamOptions | None = None


CHAT: Final = TypeAdapter(ChatRequest)
RESPONSES: Final = TypeAdapter(ResponsesRequest)


def check_fields(adapter: TypeAdapter[Any], body: Mapping[str, Any], *, lenient: bool) -> None:
    """Raises Refusal for the first field that is unknown, missing or of a wrong type. A `lenient` server
    passes over unknown fields."""
    try:
        adapter.validate_python(dict(body))
    except ValidationError as error:
        found = [e for e in error.errors() if not (lenient and e["type"] == "extra_forbidden")]
        if found:
            raise _refusal(min(found, key=lambda e: e["type"] != "extra_forbidden")) from None


def _refusal(error: ErrorDetails) -> Refusal:
    param = _param(error)
    code = CODES.get(error["type"], "invalid_type" if error["type"].endswith("_type") else "invalid_value")
    words = {
        "unknown_parameter": f"Unknown parameter: '{param}'.",
        "missing_required_parameter": f"Missing required parameter: '{param}'.",
        "invalid_type": f"Invalid type for '{param}': {error['msg']}.",
    }
    rule = "O11" if param.endswith("prompt_cache_breakpoint") else RULE
    message = words.get(code, f"Invalid value for '{param}': {error['msg']}.")
    return Refusal(rule, 400, message, code=code, param=param)


def _param(error: ErrorDetails) -> str:
    """`messages[0].content`; which branch of a union an element took is no part of the path."""
    path, after_index = "", False
    for step in error["loc"]:
        if isinstance(step, int):
            path += f"[{step}]"
        elif not (after_index and step in BRANCHES):
            path += f".{step}" if path else step
        after_index = isinstance(step, int)
    return path


BRANCHES: Final = frozenset(
    {"system", "developer", "user", "assistant", "tool", "text", "image_url", "refusal", "reasoning"}
    | {"input_message", "output_message", "function_call", "function_call_output", "additional_tools"}
    | {"configuration_update", "input_text", "input_image", "output_text"}
)
