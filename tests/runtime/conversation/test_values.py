"""What events, messages and segments have in common."""

from __future__ import annotations

from runtime.conversation.messages import ToolCall, Usage


def test_instances_share_the_names_of_their_fields() -> None:
    """A session that waits for its user would otherwise take twice the memory."""
    one, other = Usage(fresh=1), Usage()
    assert one.model_fields_set is other.model_fields_set
    assert one.model_fields_set == {"fresh", "write5m", "write1h", "read", "output"}


def test_a_changed_copy_leaves_the_shared_names_alone() -> None:
    copy = Usage(fresh=1).model_copy(update={"read": 2})
    assert (copy.fresh, copy.read) == (1, 2)
    assert Usage().model_fields_set == copy.model_fields_set == set(Usage.model_fields)


def test_what_was_left_to_its_default_is_written_as_well() -> None:
    call = ToolCall(call_id="a", name="look")
    assert call.model_dump(exclude_unset=True) == call.model_dump()
