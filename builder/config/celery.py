"""The Celery application. The broker carries job ids only; the database says what a job is and how far.

A worker of its own (scaled mode): `celery -A builder.config.celery worker`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.config.settings")

from django.conf import settings

# Idle workers of the in-memory broker look this often for work; its default of a second would be felt.
MEMORY_POLLING_SECONDS = 0.02

app = Celery("studio", set_as_current=True)
app.conf.update(
    broker_url=settings.STUDIO.redis_url or "memory://localhost/",
    broker_transport_options={}
    if settings.STUDIO.redis_url
    else {"polling_interval": MEMORY_POLLING_SECONDS},
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # A lost message is found again by the reaper; a second delivery would be work for nothing.
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    timezone="UTC",
)
app.autodiscover_tasks(["runtime"])
