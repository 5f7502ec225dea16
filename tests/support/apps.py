"""What servers under test have beside the product: a slow kind of job, and a socket that echoes."""

import time
import uuid
from pathlib import Path

from channels.generic.websocket import AsyncWebsocketConsumer
from django.apps import AppConfig
from django.urls import path


class TestSupport(AppConfig):
    name = "tests.support"
    label = "test_support"

    def ready(self) -> None:
        from runtime.routing import websocket_urlpatterns

        register_slow_job()
        websocket_urlpatterns.insert(0, path("ws/test/echo/", Echo.as_asgi()))  # before the catch-all


def register_slow_job() -> None:
    from runtime.models import Job
    from runtime.tasks import JobRun, job

    @job("test.slow")
    def slow(run: JobRun) -> None:
        """Says that it began, works for `seconds`, and writes its effect together with its end."""
        with Path(run.payload["began"]).open("a", encoding="utf-8") as file:
            file.write(f"{run.job.attempts}\n")
        time.sleep(run.payload["seconds"])
        with run.finishing({"attempt": run.job.attempts}):
            # A key of its own each time: a job that were done twice would leave two rows.
            Job.objects.create(
                kind="test.effect", key=uuid.uuid4().hex, state=Job.State.DONE, due_at=run.job.due_at
            )


class Echo(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """Notes its disconnect in the file that the first message names."""

    note: Path | None = None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        self.note = self.note or Path(text_data or "")
        await self.send(text_data=text_data)

    async def disconnect(self, code: int) -> None:
        if self.note is not None:
            self.note.write_text(str(code))
