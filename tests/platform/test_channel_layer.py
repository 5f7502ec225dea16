"""The hub layer of the embedded mode, and the bell that worker threads ring."""

import asyncio
import inspect

import pytest
from channels import layers
from channels.consumer import AsyncConsumer
from channels.layers import InMemoryChannelLayer

from builder.config.channel_layer import HubChannelLayer
from runtime import bell


async def joined(layer: HubChannelLayer, group: str, count: int) -> list[str]:
    channels = [await layer.new_channel() for _ in range(count)]
    for channel in channels:
        await layer.group_add(group, channel)
    return channels


async def test_everyone_in_a_group_gets_the_message() -> None:
    layer = HubChannelLayer()
    channels = await joined(layer, "session.1", 3)
    await layer.group_send("session.1", {"type": "push", "seq": 1})
    assert [await layer.receive(channel) for channel in channels] == [{"type": "push", "seq": 1}] * 3


async def test_whoever_left_gets_nothing() -> None:
    layer = HubChannelLayer()
    first, second = await joined(layer, "session.1", 2)
    await layer.group_discard("session.1", first)
    await layer.group_send("session.1", {"type": "push"})
    assert first not in layer.channels
    assert second in layer.channels


async def test_messages_lost_to_a_full_queue_are_counted() -> None:
    layer = HubChannelLayer(capacity=2)
    await joined(layer, "session.1", 1)
    for _ in range(5):
        await layer.group_send("session.1", {"type": "push"})
    assert layer.dropped == 3


async def test_a_broadcast_neither_copies_the_message_nor_walks_all_channels_for_each_receiver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    walks = 0

    def counted(layer: InMemoryChannelLayer) -> None:
        nonlocal walks
        walks += 1

    monkeypatch.setattr(InMemoryChannelLayer, "_clean_expired", counted)
    layer = HubChannelLayer()
    channels = await joined(layer, "all", 500)
    message = {"type": "push"}
    await layer.group_send("all", message)
    assert all([await layer.receive(channel) is message for channel in channels])
    # Once every few seconds, on a slow machine too; upstream walks at each send and each receive.
    assert walks < 50


async def test_a_broadcast_lets_others_have_a_turn() -> None:
    layer = HubChannelLayer()
    await joined(layer, "all", 1000)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    await asyncio.sleep(0)
    before = turns
    await layer.group_send("all", {"type": "push"})
    task.cancel()
    assert turns - before >= 4


async def test_a_message_rung_in_a_thread_wakes_a_receiver_of_the_servers_loop() -> None:
    layer = layers.get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add("session.2", channel)
    bell.set_server_loop(asyncio.get_running_loop())
    try:
        receiving = asyncio.create_task(layer.receive(channel))
        await asyncio.sleep(0)
        await asyncio.to_thread(bell.ring, "session.2", {"type": "push", "seq": 7})
        # No timer runs here that could wake the loop: only the ring itself can.
        assert await receiving == {"type": "push", "seq": 7}
    finally:
        bell.set_server_loop(None)


def test_what_we_override_in_channels_is_still_what_it_was() -> None:
    """The hub and `LeanConsumer` stand on these lines of upstream; look at both when this fails."""
    dispatch = inspect.getsource(AsyncConsumer.dispatch)
    assert "await aclose_old_connections()\n            await handler(message)" in dispatch
    assert "queue.put_nowait((time.time() + self.expiry, deepcopy(message)))" in inspect.getsource(
        InMemoryChannelLayer.send
    )
    assert "self.groups[group][channel] = time.time()" in inspect.getsource(InMemoryChannelLayer.group_add)
