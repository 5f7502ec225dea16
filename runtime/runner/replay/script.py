"""A replay script as a document: what the user says, what models and tools answer, when time passes.

Its names stand as they are in the file (`wait_s`, `tool_calls`), unlike a playbook's. An unknown field is an
error: a script that is misread would test something else than its author thinks.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveInt,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from runtime.playbook import ContextPolicy, DocumentPart, Options

START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""Where the clock stands when a script does not say it."""

UsageName = Literal[
    "fresh",
    "write5m",
    "write1h",
    "read",
    "output",
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
]


class ScriptPart(BaseModel):
    """A frozen part of a script."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


# -- what a model says ---------------------------------------------------------------------------------


class ScriptedCall(ScriptPart):
    """A tool call that the model asks for; `raw_args` is the argument text where it need not be JSON."""

    id: Annotated[str, Field(min_length=1)]
    name: str
    args: dict[str, Any] = Field(default_factory=dict)
    raw_args: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if {"args", "raw_args"} <= self.model_fields_set:
            raise PydanticCustomError("two_forms", "give args or raw_args, not both")
        return self


class ScriptedError(ScriptPart):
    """The provider's error in place of a message, or after some of its text."""

    type: str | None = None
    status: int | None = Field(default=None, ge=100, le=599)
    headers: dict[str, str] = Field(default_factory=dict)
    after_chunks: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many of the output's chunks come before it; where it has fewer, stand-ins do."""
    message: str = ""


class ModelOutput(ScriptPart):
    """One answer of a model: text, chunks or tool calls; or an error; or nothing at all, for ever."""

    text: str | None = None
    chunks: tuple[str, ...] | None = None
    pace_ms: float = Field(default=0.0, ge=0, le=86_400_000, allow_inf_nan=False)
    """Time before each chunk, on the script's clock."""
    tool_calls: tuple[ScriptedCall, ...] = ()
    thinking: str | None = None
    stop: str | None = None
    """The stop reason; `end_turn`, or `tool_use` with calls, when absent."""
    usage: dict[UsageName, NonNegativeInt] | None = None
    error: ScriptedError | None = None
    hang: bool = False
    """After its text, the model says nothing more until the turn is stopped or its time is over."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.text is not None and self.chunks is not None:
            raise PydanticCustomError("two_forms", "give text or chunks, not both")
        if not self.model_fields_set & {"text", "chunks", "tool_calls", "error", "hang"}:
            raise PydanticCustomError(
                "empty_output", "a model output has one of text, chunks, tool_calls, error and hang"
            )
        if self.error is not None and (self.tool_calls or self.hang):
            raise PydanticCustomError("two_forms", "an error comes in place of tool calls or a hang")
        return self

    def as_output(self) -> dict[str, Any]:
        """The output as `ScriptedLLM` takes it: what the script gives, nothing else."""
        given = self.model_dump(exclude_unset=True)
        if self.error is not None:
            pieces = list(self.chunks or ([self.text] if self.text else []))
            lacking = range(len(pieces), self.error.after_chunks)
            given["chunks"] = pieces + [f"(piece {number + 1}) " for number in lacking]
        return given


# -- what happens --------------------------------------------------------------------------------------


class Moment(ScriptPart):
    """A moment of a running turn: the model's n-th piece of text in it, or so long after its begin."""

    at_chunk: PositiveInt | None = None
    after_ms: NonNegativeInt | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.at_chunk is None) == (self.after_ms is None):
            raise PydanticCustomError("one_moment", "give at_chunk or after_ms")
        return self


class StepPart(ScriptPart):
    """What every step may have: the outputs that the calls of its turns consume, in order."""

    model: tuple[ModelOutput, ...] = ()
    fails: bool = False
    """The step is expected to fail."""


class UserStep(StepPart):
    """The user says something."""

    user: str
    interrupt: Moment | None = None
    """Said while the turn before still runs, at that moment of it; that turn is cancelled."""
    stop: Moment | None = None
    """The turn is stopped then."""
    intents: dict[str, Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]] | None = None
    """How likely each intent is in this message, in place of what a classifier would say."""


class StartStep(StepPart):
    """The session begins. Without this step it begins by itself, before the first one."""

    start: Literal[True]
    data: dict[str, Any] | None = None
    """What the initial stage is entered with."""


class WaitStep(StepPart):
    """Time passes; timers fire at their time."""

    wait_s: float = Field(ge=0, le=10 * 365 * 86_400, allow_inf_nan=False)


class RetryStep(StepPart):
    """The failed turn is taken up again."""

    retry: Literal[True]


class SetStep(ScriptPart):
    """Somebody changes variables by hand."""

    set: dict[str, Any] = Field(min_length=1)


class ForkPoint(ScriptPart):
    """A turn, by its number."""

    turn: NonNegativeInt


class ForkStep(ScriptPart):
    """The session goes on from the end of an earlier turn; what came after it did not happen."""

    fork: ForkPoint


_KINDS: Final = {
    "user": "a user step",
    "start": "a start step",
    "wait_s": "a wait step",
    "retry": "a retry step",
    "set": "a set step",
    "fork": "a fork step",
}
"""Key that a step is known by -> tag. The tags have blanks: no key of a document is taken for one."""


def _tag(value: Any) -> str | None:
    if isinstance(value, ScriptPart):
        return next((tag for key, tag in _KINDS.items() if key in type(value).model_fields), None)
    return next((tag for key, tag in _KINDS.items() if key in value), None)


def _known_step(value: Any) -> Any:
    if isinstance(value, ScriptPart):
        return value
    if not isinstance(value, dict):
        raise PydanticCustomError("dict_type", "a step is an object")
    found = [key for key in _KINDS if key in value]
    if len(found) != 1:
        wrong = "two kinds of step in one" if found else "no kind of step"
        context = {"wrong": wrong, "names": ", ".join(_KINDS)}
        raise PydanticCustomError("step_kind", "{wrong}; it has one of {names}", context)
    return value


Step = Annotated[
    Annotated[UserStep, Tag("a user step")]
    | Annotated[StartStep, Tag("a start step")]
    | Annotated[WaitStep, Tag("a wait step")]
    | Annotated[RetryStep, Tag("a retry step")]
    | Annotated[SetStep, Tag("a set step")]
    | Annotated[ForkStep, Tag("a fork step")],
    Discriminator(_tag),
    BeforeValidator(_known_step),
]


# -- tools, and the whole ------------------------------------------------------------------------------


class ScriptedTool(ScriptPart):
    """What a tool gives in this script, whatever the playbook says of it."""

    returns: Any = None
    returns_by: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Argument -> its value as text -> result; `returns` is for values that are not listed."""
    raises: str | Literal[True] | None = None
    """The sentence of its error; true for one that says nothing."""
    sleep_s: float = Field(default=0.0, ge=0, le=86_400, allow_inf_nan=False)

    @model_validator(mode="after")
    def _answers(self) -> Self:
        given = self.model_fields_set & {"returns", "returns_by", "raises", "sleep_s"}
        if not given:
            raise PydanticCustomError(
                "empty_tool", "a tool has one of returns, returns_by, raises and sleep_s"
            )
        if self.raises is not None and given & {"returns", "returns_by"}:
            raise PydanticCustomError("two_forms", "a tool raises or returns, not both")
        return self


class Script(ScriptPart):
    """A conversation to be played."""

    chat: tuple[Step, ...]
    tools: dict[str, ScriptedTool] = Field(default_factory=dict)
    options: Options = Field(default_factory=Options)
    """Options of the playbook that this run changes."""
    context: ContextPolicy = Field(default_factory=ContextPolicy)
    """Settings of the playbook's context policy that this run changes."""
    agents: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    """The playbooks that may be called as agents, by playbook id: a document, or the path of its file from
    where the script is."""
    clock: AwareDatetime = START
    """The time at which the session begins."""

    @field_validator("options", "context")
    @classmethod
    def _settings_are_known(cls, settings: DocumentPart, info: ValidationInfo) -> DocumentPart:
        unknown = settings.unknown_fields()
        if unknown:
            what = "option" if info.field_name == "options" else "setting of the context"
            raise PydanticCustomError(
                "unknown_option", "there is no {what} {name}", {"what": what, "name": unknown[0]}
            )
        return settings

    @field_validator("chat")
    @classmethod
    def _steps_fit_together(cls, chat: tuple[Step, ...]) -> tuple[Step, ...]:
        for index, step in enumerate(chat):
            if index and isinstance(step, StartStep):
                raise PydanticCustomError("late_start", "only the first step can be a start")
            if isinstance(step, UserStep) and step.interrupt is not None and not _may_be_cut(chat[:index]):
                message = "step {number} interrupts a turn, so a user step without stop comes before it"
                raise PydanticCustomError("no_turn", message, {"number": index + 1})
        return chat


def _may_be_cut(before: tuple[Step, ...]) -> bool:
    last = before[-1] if before else None
    return isinstance(last, UserStep) and last.stop is None
