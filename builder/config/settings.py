"""Django's settings, derived from `Environment`. No logic but the choice between embedded and scaled mode."""

import secrets
from pathlib import Path
from typing import Any

from builder.config.bootstrap.frontend import collected
from builder.config.database import database_settings
from builder.config.environment import Environment
from builder.config.logs import logging_settings
from builder.config.secret_key import read_secret_key

BASE_DIR = Path(__file__).resolve().parent.parent.parent
STUDIO = Environment()

DEBUG = STUDIO.debug
# A command that serves nobody makes no data folder; `builder.config.asgi` puts the lasting key in here.
SECRET_KEY_FILE = STUDIO.data_dir / "secret-key"
SECRET_KEY = STUDIO.secret_key or read_secret_key(SECRET_KEY_FILE) or secrets.token_urlsafe(64)
ALLOWED_HOSTS = list(STUDIO.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(STUDIO.trusted_origins)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_vite",
    "runtime.apps.RuntimeConfig",
    "builder.apps.BuilderConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "builder.config.security.ContentSecurityPolicy",
    "builder.config.hosts.KnownHostsOnly",
    "builder.api.one_shape.ErrorsInOneShape",
    "builder.config.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "builder.config.urls"
ASGI_APPLICATION = "builder.config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": database_settings(STUDIO.database_url, STUDIO.data_dir)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# Vite writes hashed names into static/app; a manifest storage would hash them again and break their imports.
STATIC_URL = "/static/"
STATIC_ROOT = STUDIO.static_root or collected()
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "servestatic.storage.CompressedStaticFilesStorage"},
}
SERVESTATIC_ALLOW_ALL_ORIGINS = False
DJANGO_VITE = {
    "default": {
        "dev_mode": False,
        "manifest_path": STATIC_ROOT / "app" / "manifest.json",
        "static_url_prefix": "app",
    }
}

SESSION_COOKIE_NAME = "studio-session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = STUDIO.secure_cookies
SESSION_COOKIE_AGE = 90 * 24 * 3600
# Read by our own scripts, which send it back in a header; the session's cookie is not readable.
CSRF_COOKIE_NAME = "csrftoken"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = STUDIO.secure_cookies
LOGIN_URL = "/"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
if STUDIO.secure_cookies:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# The largest body that is accepted, and with it the largest playbook: 5 MB.
MAX_BODY_BYTES = 5_000_000
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": (
        {"BACKEND": "builder.config.channel_layer.HubChannelLayer", "CONFIG": {"capacity": 1000}}
        if STUDIO.redis_url is None
        else {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [STUDIO.redis_url], "prefix": "studio"},
        }
    )
}

LOGGING = logging_settings(STUDIO.log_level)
