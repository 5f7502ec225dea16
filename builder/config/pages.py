"""The answers that are no API: the page of the application, and the health check."""

from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET, require_safe


@never_cache
@require_safe
@ensure_csrf_cookie
def app(request: HttpRequest) -> HttpResponse:
    """The single page; its own router looks at the path. A stranger is told where the link is."""
    if not request.user.is_authenticated:
        return render(request, "sign_in.html", {"link_was_used": False}, status=401)
    return render(request, "app.html")


def unknown(request: HttpRequest) -> HttpResponse:
    """An address that does not exist: the page says so, too, with the way home."""
    if request.method not in ("GET", "HEAD"):
        raise Http404
    answer = app(request)
    if answer.status_code == 200:
        answer.status_code = 404
    return answer


@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """200 when this process answers and its database does; for proxies and for whoever waits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})
