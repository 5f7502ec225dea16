"""The builder as a Django app."""

from django.apps import AppConfig


class BuilderConfig(AppConfig):
    name = "builder"
    label = "builder"
    verbose_name = "Playbook builder"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Makes ours the current Celery application: tasks enqueued from anywhere go to its broker.
        from builder.config import celery  # noqa: F401
