"""What is logged, and where: warnings of ours to standard error, the chatter of libraries nowhere."""

from typing import Any

CHATTY = ("daphne", "celery", "kombu", "twisted", "asyncio", "httpx2", "httpcore2", "anthropic", "openai")


def logging_settings(level: str) -> dict[str, Any]:
    """Django's LOGGING. A client's mistakes (404, 403) are answers, not log lines."""
    quiet = {name: {"level": "DEBUG" if level == "DEBUG" else "WARNING"} for name in CHATTY}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **quiet,
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": "ERROR", "propagate": True},
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
            "daphne.http_protocol": {"level": "ERROR"},
        },
    }
