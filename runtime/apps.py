"""The runtime as a Django app."""

from django.apps import AppConfig


class RuntimeConfig(AppConfig):
    name = "runtime"
    label = "runtime"
    verbose_name = "Playbook runtime"
    default_auto_field = "django.db.models.BigAutoField"
