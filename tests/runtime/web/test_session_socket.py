"""The session socket: what is heard, by whom, how often, and what bad frames do."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest
from django.contrib.auth.models import AnonymousUser, User

from runtime import live
from runtime.models import LoggedEvent, StoredSession
from runtime.sockets import in_database
from tests.runtime.web.conftest import Connect
from tests.runtime.web.doubles import Model
from tests.runtime.web.sockets import settle
from tests.runtime.web.test_hub import finished, until_shown


async def test_a_message_is_answered_word_by_word(connect: Connect, model: Model) -> None:
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="Hi")
    complete = await socket.until("turn_complete")
    assert complete["text"] == "Hello there"
    assert socket.text() == "Hello there"
    assert [frame["text"] for frame in socket.heard if frame["type"] == "user_message"] == ["Hi"]


async def test_events_are_stored_before_they_are_heard(connect: Connect, session: uuid.UUID) -> None:
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="Hi")
    while True:
        frame = await socket.hear()
        if "seq" in frame:
            assert await in_database(LoggedEvent.objects.filter(session=session, seq=frame["seq"]).exists)
        if frame["type"] == "turn_complete":
            break


async def test_hello_is_answered_by_exactly_what_was_missed(connect: Connect) -> None:
    socket = await connect()
    ready = await socket.hello()
    assert socket.seqs == [1, 2]
    assert (ready["lastSeq"], ready["status"], ready["running"]) == (2, "idle", None)
    later = await connect()
    await later.hello(after=1)
    assert later.seqs == [2]


async def test_nothing_is_heard_before_hello(connect: Connect) -> None:
    speaking, silent = await connect(), await connect()
    await speaking.hello()
    await speaking.say(type="message", clientId="m1", text="Hi")
    await speaking.until("turn_complete")
    await settle()
    while not await silent.quiet():
        frame = await silent.hear()
        assert frame["type"] == "presence" or frame["type"] == "call"
    assert silent.events == []


async def test_a_reconnect_in_mid_stream_gets_everything_once(
    connect: Connect, model: Model, hub: live.Hub, session: uuid.UUID
) -> None:
    model.words = ["one ", "two ", "three ", "four ", "five"]
    gate = model.hold_before(2)
    first = await connect()
    await first.hello()
    await first.say(type="message", clientId="m1", text="count")
    await first.until("text_delta")
    await until_shown(hub, session, "one two ")
    last = first.seqs[-1]
    await first.close()

    second = await connect()
    ready = await second.hello(after=last)
    assert ready["running"] == {"turn": 1, "call": 1, "text": "one two "}
    gate.set()
    complete = await second.until("turn_complete")
    assert second.text() == "one two three four five" == complete["text"]
    assert first.seqs + second.seqs == list(range(1, complete["seq"] + 1))


async def test_hello_again_on_an_open_socket_repeats_nothing_of_the_text(
    connect: Connect, model: Model
) -> None:
    model.words = ["one ", "two ", "three"]
    gate = model.hold_before(1)
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="count")
    await socket.until("text_delta")
    await socket.hello(after=socket.seqs[-1])
    gate.set()
    await socket.until("turn_complete")
    assert socket.text() == "one two three"


async def test_two_sockets_see_the_same(connect: Connect) -> None:
    here, there = await connect(), await connect()
    await here.hello()
    await there.hello()
    await here.say(type="message", clientId="m1", text="Hi")
    await here.until("turn_complete")
    await there.until("turn_complete")
    assert here.events == there.events
    assert here.text() == there.text() == "Hello there"


async def test_stop_is_heard_while_a_reply_streams(connect: Connect, model: Model) -> None:
    model.words = ["one ", "two"]
    model.hold_before(1)
    speaking, stopping = await connect(), await connect()
    await speaking.hello()
    await speaking.say(type="message", clientId="m1", text="count")
    await speaking.until("text_delta")
    await speaking.say(type="ping")
    await speaking.until("pong")
    await stopping.say(type="stop")
    ended = await speaking.until("turn_interrupted")
    assert (ended["shownText"], ended["reason"]) == ("one ", "stop")


async def test_a_turn_goes_on_when_its_socket_closes(
    connect: Connect, model: Model, hub: live.Hub, session: uuid.UUID
) -> None:
    gate = model.hold_before(1)
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="Hi")
    await socket.until("text_delta")
    await socket.close()
    gate.set()
    await finished(hub)
    events = await in_database(lambda: list(LoggedEvent.objects.values_list("type", flat=True)))
    assert events[-1] == "turn_complete"
    assert not hub.is_running(session)


async def test_the_same_client_id_counts_once(connect: Connect, model: Model) -> None:
    gate = model.hold_before(0)
    socket = await connect()
    await socket.hello()
    for _ in range(3):  # the first runs, the others come while it does
        await socket.say(type="message", clientId="m1", text="Hi")
    gate.set()
    await socket.until("turn_complete")
    await socket.say(type="message", clientId="m1", text="Hi")
    await settle()
    said = await in_database(LoggedEvent.objects.filter(type="user_message").count)
    assert said == 1


async def test_a_second_message_waits_for_the_running_turn(connect: Connect, model: Model) -> None:
    gate = model.hold_before(1)
    here, there = await connect(), await connect()
    await here.hello()
    await here.say(type="message", clientId="m1", text="first")
    await here.until("text_delta")
    await there.say(type="message", clientId="m2", text="second")
    await settle()
    gate.set()
    await here.until("turn_complete")
    await here.until("turn_complete")
    order = [e["type"] for e in here.events if e["type"] in ("user_message", "turn_complete")]
    assert order == ["user_message", "turn_complete", "user_message", "turn_complete"]


async def test_an_interrupting_message_ends_the_running_turn(connect: Connect, model: Model) -> None:
    model.words = ["one ", "two"]
    gate = model.hold_before(1)
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="first")
    await socket.until("text_delta")
    await socket.say(type="message", clientId="m2", text="second", interrupt=True)
    ended = await socket.until("turn_interrupted")
    gate.set()
    await socket.until("turn_complete")
    assert ended["reason"] == "interrupt"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("{", "bad-frame"),
        ("[]", "bad-frame"),
        ('{"type": "dance"}', "unknown-type"),
        ("{}", "unknown-type"),
        ('{"type": "message", "text": "no id"}', "bad-frame"),
        ('{"type": "message", "clientId": "x", "text": "a\\u0000b"}', "bad-frame"),
        ('{"type": "message", "clientId": "x", "text": "a\\ud800b"}', "bad-frame"),
        ('{"type": "set", "variable": "v", "value": [{"a": "\\u0000"}]}', "bad-frame"),
        ('{"type": "set", "variable": "v", "value": [NaN]}', "bad-frame"),
        ('{"type": "set", "variable": "v", "value": 1e999}', "bad-frame"),
        (f'{{"type": "set", "variable": "v", "value": {"9" * 4000}}}', "bad-frame"),
        ('{"type": "use", "model": "a\\u0000"}', "bad-frame"),
        ('{"type": "use", "policy": {"note": ["\\u0000"]}}', "bad-frame"),
        ('{"type": "hello", "afterSeq": "many"}', "bad-frame"),
        ('{"type": "stop", "more": 1}', "bad-frame"),
        ('{"type": "retry"}', "not-now"),
        ('{"type": "fork", "atTurn": 1}', "not-yet"),
        ('{"type": "resume"}', "not-yet"),
        ('{"type": "approve", "callId": "c", "approved": true}', "not-yet"),
        (json.dumps({"type": "message", "clientId": "x", "text": "x" * (1 << 20)}), "too-large"),
    ],
)
async def test_a_frame_that_cannot_be_used_is_answered_and_the_socket_stays(
    connect: Connect, said: str, code: str
) -> None:
    socket = await connect()
    await socket.say_text(said)
    error = await socket.until("error")
    assert error["code"] == code
    assert error["message"]
    await socket.say(type="ping")
    await socket.until("pong")


async def test_a_message_of_100_kb_is_taken(connect: Connect) -> None:
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="é" * 100_000)
    said = await socket.until("user_message")
    assert said["text"] == "é" * 100_000


async def test_a_variable_that_is_set_by_hand_is_an_event(connect: Connect) -> None:
    socket = await connect()
    await socket.hello()
    await socket.say(type="set", variable="order", value={"id": 7})
    changed = await socket.until("state_changed")
    assert changed["set"] == {"order": {"id": 7}}


async def test_another_persons_session_is_not_found(connect: Connect, session: uuid.UUID) -> None:
    ben = await in_database(User.objects.create_user, "ben")
    for socket in (await connect(user=ben), await connect(at=uuid.uuid4()), await connect(at="1")):
        assert await socket.hear() == {"type": "closed", "code": 4404}
        assert socket.heard == []


async def test_somebody_without_a_login_is_told_to_sign_in(connect: Connect) -> None:
    socket = await connect(user=AnonymousUser())
    assert await socket.hear() == {"type": "closed", "code": 4401}


async def test_the_socket_closes_once_the_session_is_deleted(
    connect: Connect, hub: live.Hub, session: uuid.UUID
) -> None:
    socket = await connect()
    await socket.hello()
    await hub.forget(session)
    assert (await socket.until("closed"))["code"] == 4404


async def test_rights_are_looked_at_again_at_each_message(connect: Connect, session: uuid.UUID) -> None:
    ben = await in_database(User.objects.create_user, "ben")
    socket = await connect()
    await socket.hello()
    await in_database(StoredSession.objects.filter(pk=session).update, owner=ben)
    await socket.say(type="message", clientId="m1", text="Hi")
    assert (await socket.until("closed"))["code"] == 4404
    assert not await in_database(LoggedEvent.objects.filter(type="user_message").exists)


async def test_viewers_are_counted(connect: Connect) -> None:
    here = await connect()
    assert (await here.until("presence"))["viewers"] == 1
    there = await connect()
    assert (await here.until("presence"))["viewers"] == 2
    await there.close()
    assert (await here.until("presence"))["viewers"] == 1


async def test_call_frames_tell_of_a_call_when_it_starts_and_when_it_ends(connect: Connect) -> None:
    socket = await connect()
    await socket.hello()
    await socket.say(type="message", clientId="m1", text="Hi")
    started = (await socket.until("call"))["call"]
    ended = (await socket.until("call"))["call"]
    assert (started["status"], ended["status"]) == ("running", "complete")
    assert [s["id"] for s in ended["segments"]] == ["s1"]
    assert "text" not in ended["segments"][0]


async def test_many_sockets_that_come_and_go_leave_nothing_behind(connect: Connect, hub: live.Hub) -> None:
    before = len(asyncio.all_tasks())
    for number in range(20):
        socket = await connect()
        await socket.hello()
        await socket.say(type="message", clientId=f"m{number}", text="Hi")
        await socket.until("text_delta")
        await socket.close()
    await finished(hub)
    for _ in range(50):
        if len(asyncio.all_tasks()) <= before + 2:
            break
        await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks()) <= before + 2
