"""The settings that a stage's model is asked with: the stage's own over the playbook's."""

from __future__ import annotations

from runtime.playbook.playbook import LLMConfig


def merged_settings(default: LLMConfig | None, own: LLMConfig | None) -> LLMConfig:
    """The stage's settings over the playbook's, field by field.

    Provider and model go together: a stage that names only one of them does not get the playbook's other,
    which belongs to something else.
    """
    values = default.model_dump(by_alias=True, exclude_none=True) if default is not None else {}
    given = own.model_dump(by_alias=True, exclude_none=True) if own is not None else {}
    for named, other in (("model", "provider"), ("provider", "model")):
        if named in given and other not in given and given[named] != values.get(named):
            values.pop(other, None)
    return LLMConfig(**{**values, **given})
