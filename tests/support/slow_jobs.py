"""A kind of job for tests: takes a while, then leaves one row as its effect."""

import time
import uuid
from pathlib import Path

from django.apps import AppConfig


class SlowJobs(AppConfig):
    name = "tests.support"
    label = "slow_jobs"

    def ready(self) -> None:
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
