"""WebSocket addresses of the runtime."""

from django.urls import path

from runtime.consumers import SessionConsumer

websocket_urlpatterns = [path("ws/sessions/<uuid:session>/", SessionConsumer.as_asgi())]
