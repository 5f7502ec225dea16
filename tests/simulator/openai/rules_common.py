"""What both of OpenAI's APIs refuse: keys, models, settings, tools (O01, O02, O04, O08)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import TypeAdapter

from runtime.context.models import ModelRecord
from tests.simulator.answers import HttpRequest, Json, Refusal, read_json
from tests.simulator.openai.models import EFFORTS, must_reason, reasons
from tests.simulator.openai.schema import check_fields
from tests.simulator.profiles import Profiles

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def opened(
    request: HttpRequest, profiles: Profiles, fields: TypeAdapter[Any], *providers: str
) -> tuple[str, Json, ModelRecord]:
    """Account, body and model of a request with a good key and good fields. Raises Refusal."""
    account = _account(request, profiles)
    try:
        body = read_json(request.body)
    except ValueError as error:
        message = f"We could not parse the JSON body of your request: {error}"
        raise Refusal("O03", 400, message) from None
    model_id = str(body.get("model"))
    model = profiles.find(model_id, *providers)
    if model is None and "model" in body:
        message = f"The model `{model_id}` does not exist or you do not have access to it."
        raise Refusal("O02", 404, message, code="model_not_found")
    lenient = model is not None and model.provider == "openai-chat"
    if profiles.checks("O03", model_id):
        check_fields(fields, body, lenient=lenient)
    if model is None:
        raise Refusal("O03", 400, "you must provide a model parameter", param="model")
    return account, body, model


def _account(request: HttpRequest, profiles: Profiles) -> str:
    if not request.headers.get("authorization", "").lower().startswith("bearer "):
        raise Refusal("O01", 401, "You didn't provide an API key.", code="invalid_api_key")
    account = profiles.account(request.headers)
    if account is None:
        raise Refusal("O01", 401, "Incorrect API key provided.", code="invalid_api_key")
    return account


def check_sampling(body: Json, model: ModelRecord, effort: str | None, effort_param: str) -> None:
    """O04: what a reasoning model does not take. `effort` is the one asked for. Raises Refusal."""
    if not reasons(model):
        return
    if (effort is not None and effort not in EFFORTS) or (effort == "none" and must_reason(model)):
        raise _unsupported(effort_param, effort)
    if "max_tokens" in body:
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        raise Refusal("O04", 400, message, code="unsupported_parameter", param="max_tokens")
    for name in ("temperature", "top_p"):
        if body.get(name) not in (None, 1) and effort != "none":
            raise _unsupported(name, body[name])


def _unsupported(param: str, value: Any) -> Refusal:
    message = f"Unsupported value: '{param}' does not support {value!r} with this model."
    return Refusal("O04", 400, message, code="unsupported_value", param=param)


def check_tools(body: Json, functions: Sequence[Json], path: str) -> None:
    """O08: the tools and the choice among them. `functions` are the tools without their wrapping, `path`
    where the name of one stands, with its index as `{}`. Raises Refusal."""
    if body.get("tools") == []:
        raise _invalid(
            "Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools", "empty_array"
        )
    names = [function["name"] for function in functions]
    for index, function in enumerate(functions):
        if not _NAME.fullmatch(function["name"]):
            param = path.format(index)
            raise _invalid(f"Invalid '{param}': string does not match pattern '^[a-zA-Z0-9_-]+$'.", param)
        if names.index(function["name"]) != index:
            raise _invalid(f"Duplicate function name '{function['name']}'.", path.format(index))
        if function.get("strict"):
            _check_strict(function, path.format(index))
    _check_choice(body.get("tool_choice"), names)


def _check_strict(function: Json, param: str) -> None:
    for schema in _objects(function.get("parameters") or {}):
        open_ended = schema.get("additionalProperties") is not False
        missing = sorted(set(schema.get("properties", {})) - set(schema.get("required", ())))
        fault = "'additionalProperties' is required to be supplied and to be false" if open_ended else None
        if missing and not open_ended:
            fault = f"'required' must include every key in properties. Missing '{missing[0]}'"
        if fault is not None:
            message = f"Invalid schema for function '{function['name']}': {fault}."
            raise _invalid(message, param.replace("name", "parameters"), "invalid_function_parameters")


def _objects(schema: Any) -> Iterator[Json]:
    """Every schema of an object inside a schema, itself included."""
    if isinstance(schema, list):
        for item in schema:
            yield from _objects(item)
    elif isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from _objects(value)


def _check_choice(choice: Any, names: Sequence[str]) -> None:
    if choice is None:
        return
    if not names and choice != "none" and choice != "auto":
        raise _invalid("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
    if isinstance(choice, str):
        if choice not in ("auto", "none", "required"):
            raise _invalid(f"Invalid value: '{choice}'.", "tool_choice", "invalid_value")
        return
    strange = [name for name in _chosen(choice) if name not in names]
    if strange:
        raise _invalid(f"Tool choice '{strange[0]}' not found in 'tools' parameter.", "tool_choice")


def _chosen(choice: Json) -> list[str]:
    """The names that a tool choice mentions."""
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice).get("tools", [])
        return [str(tool.get("function", tool).get("name")) for tool in allowed]
    return [str(choice.get("function", choice).get("name"))]


def _invalid(message: str, param: str, code: str = "invalid_value") -> Refusal:
    return Refusal("O08", 400, message, param=param, code=code)


def too_long(tokens: int, model: ModelRecord, wanted: int = 0) -> Refusal | None:
    """O12: the refusal of a request that does not fit; None if it does."""
    if tokens + wanted <= model.window:
        return None
    message = (
        f"This model's maximum context length is {model.window} tokens. "
        f"However, your input resulted in {tokens} tokens. Please reduce the length of the input."
    )
    return Refusal("O12", 400, message, code="context_length_exceeded", param="input")
