"""From the printed link to the application, in a browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.studio import StudioServer


def test_the_link_opens_the_application(
    studio: StudioServer, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context().new_page()
    page.goto(studio.new_link())
    expect(page).to_have_url(f"{studio.address}/")
    expect(page.get_by_role("main")).to_be_visible()


def test_a_used_link_and_a_stranger_are_told_how_to_get_in(
    studio: StudioServer, new_context: Callable[..., BrowserContext]
) -> None:
    link = studio.new_link()
    new_context().new_page().goto(link)
    page = new_context().new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="This link has been used")).to_be_visible()
    expect(page.get_by_text("python3 manage.py link")).to_be_visible()
    page.goto(studio.address)
    expect(page.get_by_role("heading", name="Open your sign-in link")).to_be_visible()


@pytest.mark.console_errors(r"Failed to load resource.*404")
def test_an_unknown_address_says_so_and_leads_home(studio: StudioServer, signed_in_page: Page) -> None:
    answer = signed_in_page.goto("/nowhere")
    assert answer is not None
    assert answer.status == 404
    expect(signed_in_page.get_by_role("heading", name="There is no such page")).to_be_visible()
    signed_in_page.get_by_role("link", name="All playbooks").click()
    expect(signed_in_page).to_have_url(f"{studio.address}/")


def test_the_console_is_clean_on_the_first_page(signed_in_page: Page) -> None:
    signed_in_page.goto("/")
    expect(signed_in_page.get_by_role("main")).to_be_visible()
