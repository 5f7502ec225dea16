"""Checks a call's arguments against its tool's JSON Schema before anything runs; pure.

Schemas come from authors, arguments from models: nothing is fetched for a `$ref`, patterns run in linear
time, and the message that goes back to the model is made here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn

import jsonschema_rs

from runtime.playbook.schema_size import fans_out

_MAX_PROBLEMS: Final = 5


def argument_error(parameters: Mapping[str, Any], arguments: Mapping[str, Any] | None) -> str | None:
    """A sentence for the model if `arguments` do not fit, else None. Arguments of None did not parse."""
    if arguments is None:
        return "The arguments are not valid JSON. Call the tool again with a JSON object."
    try:
        validator = _validator(json.dumps(parameters, sort_keys=True))
    except ValueError as error:
        return f"The tool cannot be called: its parameters are not a usable JSON Schema ({error})."
    try:
        problems = [_problem(found) for found in validator.iter_errors(dict(arguments))]
    except (ValueError, TypeError) as error:
        return f"The arguments cannot be checked: {str(error)[:200]}"
    if not problems:
        return None
    return "The arguments do not fit the tool's parameters: " + "; ".join(problems[:_MAX_PROBLEMS]) + "."


def _problem(found: Any) -> str:
    path = "".join(f"/{part}" for part in found.instance_path)
    message = str(found.message)[:200].rstrip(".")
    return f"{path}: {message}" if path else message


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"references to {uri} are not followed")


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    value = json.loads(schema)
    if fans_out(value):
        raise ValueError("its references fan out too far")
    try:
        return jsonschema_rs.validator_for(
            value, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        raise ValueError(str(getattr(error, "message", error))[:200]) from None
