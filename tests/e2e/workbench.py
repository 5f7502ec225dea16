"""The workbench as a person handles it: what browser tests say instead of selectors."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.support.studio import StudioServer

SAVED = re.compile(r"^Saved")


@dataclass
class Workbench:
    """One open playbook in one page."""

    page: Page
    studio: StudioServer

    @property
    def playbook_id(self) -> str:
        """The row's id, from the address."""
        found = re.search(r"/playbooks/([0-9a-f-]{36})", self.page.url)
        assert found, self.page.url
        return found[1]

    def stage(self, name: str) -> Locator:
        return self.page.get_by_role("group", name=re.compile(rf"^Stage {re.escape(name)}( \(|$)"))

    def transition(self, source: str, target: str) -> Locator:
        return self.page.get_by_role(
            "group", name=re.compile(rf"^{re.escape(source)} → {re.escape(target)}:")
        )

    def add_stage_by_drag(self, x: float, y: float) -> None:
        """Drags the palette's stage onto the canvas, with a real pointer."""
        self.drag(self.page.get_by_role("button", name="Add stage"), x, y)

    def drag(self, what: Locator, x: float, y: float) -> None:
        box = what.bounding_box()
        assert box
        mouse = self.page.mouse
        mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        mouse.down()
        mouse.move(x - 40, y - 30, steps=6)
        mouse.move(x, y, steps=6)
        mouse.up()

    def connect(self, source: str, target: str) -> None:
        """Drags from the source's right handle to the middle of the target's card."""
        box = self.stage(target).bounding_box()
        assert box
        self.stage(source).hover()
        handle = self.stage(source).locator('[data-handleid="right"]')
        self.drag(handle, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def free_place(self) -> tuple[float, float]:
        """A place on the canvas where nothing lies: left, below the stages, right of the overview."""
        box = self.page.get_by_role("region", name="Graph").bounding_box()
        assert box
        return box["x"] + 420, box["y"] + box["height"] - 150

    def talk(self) -> Chat:
        self.page.get_by_role("button", name="Talk", exact=True).click()
        return Chat(self.page)

    def expect_saved(self) -> None:
        expect(self.page.get_by_role("banner").get_by_text(SAVED)).to_be_visible(timeout=10_000)

    def stored(self) -> dict[str, Any]:
        """The draft as the database has it."""
        row = self.studio.rows(
            "select document from builder_savedplaybook where id = ?", self.playbook_id.replace("-", "")
        )[0]
        document: dict[str, Any] = json.loads(row["document"])
        return document


@dataclass
class Chat:
    """The test chat of one page."""

    page: Page

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message")

    def say(self, text: str) -> None:
        self.box.fill(text)
        self.box.press("Enter")

    def reply(self, turn: int) -> Locator:
        return self.page.get_by_role("article", name=f"Reply, turn {turn}", exact=True)

    def expect_finished(self, turn: int) -> Locator:
        """The reply of that turn, once its figures stand under it."""
        reply = self.reply(turn).last
        expect(reply.get_by_role("button", name=re.compile(r"^call \d+"))).to_be_visible(timeout=20_000)
        return reply


def open_template(
    page: Page, studio: StudioServer, name: str = "Customer support", stage: str = "Greeting"
) -> Workbench:
    """A fresh copy of a playbook of the gallery, so that tests do not meet in one document."""
    page.goto("/")
    page.get_by_role("button", name="From a template").click()
    page.get_by_role("menuitem", name=re.compile(name)).click()
    return opened(page, studio, stage)


def opened(page: Page, studio: StudioServer, stage: str = "Greeting") -> Workbench:
    expect(page.get_by_role("region", name="Graph")).to_be_visible(timeout=15_000)
    workbench = Workbench(page, studio)
    expect(workbench.stage(stage)).to_be_visible()
    return workbench
