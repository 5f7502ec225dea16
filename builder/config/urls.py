"""Every address of the site, in one place."""

from django.contrib import admin
from django.urls import path, re_path

from builder.api import api
from builder.config import pages, sign_in

urlpatterns = [
    path("api/", api.urls),
    path("admin/", admin.site.urls),
    path("enter/<str:token>", sign_in.enter, name="enter"),
    path("health", pages.health, name="health"),
    path("", pages.app, name="app"),
    re_path(r"^(?:playbooks|sessions|connections)(?:/.*)?$", pages.app, name="app-page"),
    # Programs, not people, ask for what is under these; `admin` is there so that Django adds its slash.
    re_path(r"^(?!(?:api|static|ws|admin)(?:/|$))", pages.unknown, name="unknown"),
]
