"""WebSocket addresses of the runtime."""

from django.urls import path, re_path

from runtime.consumers import NoSuchSocket, SessionConsumer

websocket_urlpatterns = [
    path("ws/sessions/<uuid:session>/", SessionConsumer.as_asgi()),
    re_path(r"", NoSuchSocket.as_asgi()),
]
