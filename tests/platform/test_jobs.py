"""Jobs as rows: who may do them, how often, and what becomes of them."""

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from runtime import tasks
from runtime.models import Job
from runtime.tasks import JobRun, LeaseLost

pytestmark = pytest.mark.django_db(transaction=True)

State = Job.State


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids that the broker was given; nothing runs by itself."""
    ids: list[str] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", lambda args, countdown: ids.append(args[0]))
    return ids


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[str, tasks.Handler]:
    registered: dict[str, tasks.Handler] = {}
    monkeypatch.setattr(tasks, "_handlers", registered)
    return registered


def a_job(**fields: object) -> Job:
    values: dict[str, object] = {"kind": "count", "key": uuid.uuid4().hex, "due_at": timezone.now(), **fields}
    return Job.objects.create(**values)


def in_the_hands_of_another(job: Job, until: datetime) -> None:
    Job.objects.filter(pk=job.pk).update(
        state=State.RUNNING, lease_owner="another", lease_until=until, attempts=job.attempts + 1
    )


def test_the_same_key_is_the_same_job(sent: list[str]) -> None:
    first = tasks.enqueue("count", "daily:2026-11-30", {"n": 1})
    second = tasks.enqueue("count", "daily:2026-11-30", {"n": 2})
    assert first.pk == second.pk
    assert second.payload == {"n": 1}
    assert sent == [str(first.pk)]


def test_a_done_job_keeps_its_result(handlers: dict[str, tasks.Handler]) -> None:
    handlers["count"] = lambda run: {"sum": sum(run.payload["numbers"])}
    job = a_job(payload={"numbers": [1, 2, 3]})
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.result, job.attempts) == (State.DONE, {"sum": 6}, 1)
    assert job.finished_at is not None


def test_a_second_delivery_of_an_id_does_nothing(handlers: dict[str, tasks.Handler]) -> None:
    runs: list[int] = []
    handlers["count"] = lambda run: runs.append(1)
    job = a_job()
    tasks.run_job(str(job.pk))
    tasks.run_job(str(job.pk))
    assert runs == [1]


def test_a_job_is_not_done_before_it_is_due(handlers: dict[str, tasks.Handler]) -> None:
    handlers["count"] = lambda run: None
    job = a_job(due_at=timezone.now() + timedelta(hours=1))
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.attempts) == (State.QUEUED, 0)


def test_only_one_of_two_workers_gets_a_job() -> None:
    job = a_job()
    now = timezone.now()
    assert tasks.claim(job.pk, now) is not None
    assert tasks.claim(job.pk, now) is None


def test_a_job_whose_lease_ended_may_be_claimed_by_another() -> None:
    job = a_job()
    now = timezone.now()
    in_the_hands_of_another(job, now - timedelta(seconds=1))
    claimed = tasks.claim(job.pk, now)
    assert claimed is not None
    assert claimed.attempts == 2


def test_a_failing_job_is_tried_again_later_and_given_up_in_the_end(
    handlers: dict[str, tasks.Handler], sent: list[str]
) -> None:
    def fails(run: JobRun) -> None:
        raise ValueError("the disk is on fire")

    handlers["count"] = fails
    job = a_job(max_attempts=2)
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.error) == (State.QUEUED, "ValueError: the disk is on fire")
    assert job.due_at > timezone.now()
    assert sent == [str(job.pk)]

    Job.objects.filter(pk=job.pk).update(due_at=timezone.now())
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.attempts) == (State.FAILED, 2)


def test_a_job_of_an_unknown_kind_fails_with_a_sentence() -> None:
    job = a_job(kind="of-a-later-release")
    tasks.run_job(str(job.pk))
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert "of-a-later-release" in job.error


def test_a_worker_that_lost_its_lease_writes_nothing() -> None:
    row = tasks.claim(a_job().pk, timezone.now())
    assert row is not None
    in_the_hands_of_another(row, timezone.now() + timedelta(minutes=1))
    with pytest.raises(LeaseLost), JobRun(row).finishing({"late": True}):
        a_job(key="effect of the late one")
    assert not Job.objects.filter(key="effect of the late one").exists()
    row.refresh_from_db()
    assert row.state == State.RUNNING


def test_the_heartbeat_renews_the_lease_and_notices_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "HEARTBEAT_SECONDS", 0.02)
    a_while_ago = timezone.now() - timedelta(seconds=25)
    row = tasks.claim(a_job(due_at=a_while_ago).pk, a_while_ago)
    assert row is not None
    run = JobRun(row)
    with tasks._heartbeat(run):
        assert not run.stop_asked.wait(0.3)
        row.refresh_from_db()
        assert row.lease_until is not None
        assert row.lease_until > timezone.now() + timedelta(seconds=20)
        in_the_hands_of_another(row, timezone.now())
        assert run.stop_asked.wait(5)


def test_the_reaper_sends_what_nobody_holds(sent: list[str]) -> None:
    forgotten = a_job()
    now = timezone.now()
    lost = a_job()
    in_the_hands_of_another(lost, now - timedelta(seconds=1))
    held = a_job()
    in_the_hands_of_another(held, now + timedelta(seconds=20))
    under_way = a_job(lease_until=now + timedelta(seconds=20))
    later = a_job(due_at=now + timedelta(hours=1))

    assert tasks.reap(now) == 2

    assert set(sent) == {str(forgotten.pk), str(lost.pk)}
    assert {held.pk, under_way.pk, later.pk}.isdisjoint(map(uuid.UUID, sent))


def test_the_reaper_does_not_send_the_same_id_twice_in_a_row(sent: list[str]) -> None:
    a_job()
    now = timezone.now()
    assert [tasks.reap(now), tasks.reap(now)] == [1, 0]


def test_at_the_start_of_the_only_process_every_unfinished_job_is_sent(sent: list[str]) -> None:
    now = timezone.now()
    held_by_the_dead = a_job()
    in_the_hands_of_another(held_by_the_dead, now + timedelta(seconds=20))
    later = a_job(due_at=now + timedelta(hours=1))
    a_job(state=State.DONE)
    assert tasks.reap(now, everything=True) == 2
    assert set(sent) == {str(held_by_the_dead.pk), str(later.pk)}


def test_a_job_that_kills_its_process_each_time_is_given_up(sent: list[str]) -> None:
    deadly = a_job(max_attempts=3, attempts=2)
    in_the_hands_of_another(deadly, timezone.now() - timedelta(seconds=1))
    tasks.reap(timezone.now())
    deadly.refresh_from_db()
    assert deadly.state == State.FAILED
    assert sent == []


def test_the_wait_before_a_retry_doubles_up_to_five_minutes() -> None:
    assert [tasks.retry_wait(n).total_seconds() for n in (1, 2, 3, 30)] == [2, 4, 8, 300]


def test_two_handlers_for_one_kind_are_refused() -> None:
    tasks.job("once")(lambda run: None)
    with pytest.raises(ValueError, match="once"):
        tasks.job("once")(lambda run: None)
