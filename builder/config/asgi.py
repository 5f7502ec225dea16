"""The ASGI application: Django over HTTP, the runtime's consumers over WebSockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "builder.config.settings")

from django.conf import settings

from builder.config.secret_key import load_or_create_secret_key

if settings.STUDIO.secret_key is None:
    settings.SECRET_KEY = load_or_create_secret_key(settings.SECRET_KEY_FILE)

from django.core.asgi import get_asgi_application

# Fills Django's registry; the consumers import models.
django_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from builder.config.origins import OwnOriginsOnly  # noqa: E402
from runtime.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": OwnOriginsOnly(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
