"""One-time sign-in links: how the person at this machine becomes its signed-in owner without a password.

A link's token is known to its reader only; the data folder keeps a file named by the token's hash. Using a
link removes the file, and only the one who removed it is signed in: a link works once, in any number of
processes. Each start of the server removes what is left of earlier ones.
"""

import hashlib
import secrets
from pathlib import Path

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from builder.seeding import seed_gallery

OWNER = "owner"


def links_dir() -> Path:
    return Path(settings.STUDIO.data_dir) / "sign-in"


def link_file(token: str) -> Path:
    return links_dir() / hashlib.sha256(token.encode()).hexdigest()


def make_link_token() -> str:
    """A new token, good for one sign-in until the server starts again."""
    links_dir().mkdir(parents=True, exist_ok=True, mode=0o700)
    token = secrets.token_urlsafe(24)
    link_file(token).touch(mode=0o600)
    return token


def forget_links() -> None:
    """Makes every link that was given out so far useless."""
    for file in links_dir().glob("*"):
        file.unlink(missing_ok=True)


def use_link_token(token: str) -> bool:
    """Whether the token was good; it is not any more."""
    try:
        link_file(token).unlink()
    except FileNotFoundError:
        return False
    return True


def owner() -> User:
    """The one local user, made at the first call with a first playbook; signs in by link only."""
    user, created = User.objects.get_or_create(
        username=OWNER, defaults={"is_staff": True, "is_superuser": True}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    seed_gallery(user)
    return user


@never_cache
@require_GET
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Signs the owner in, once per link; a link that was used says how to get another one."""
    if use_link_token(token):
        login(request, owner(), backend="django.contrib.auth.backends.ModelBackend")
        return redirect("app")
    if request.user.is_authenticated:
        return redirect("app")
    return render(request, "sign_in.html", {"link_was_used": True}, status=410)
