"""What the owner finds after using the link for the first time."""

from __future__ import annotations

from django.test import Client

from builder.config import sign_in


def test_the_link_leads_to_a_gallery_with_a_ready_playbook(transactional_db: None) -> None:
    client = Client()
    assert client.get(f"/enter/{sign_in.make_link_token()}").status_code == 302
    [entry] = client.get("/api/playbooks").json()
    assert (entry["name"], entry["problems"]) == ("Customer support", {"errors": 0, "warnings": 0})
    assert entry["stageCount"] == 7


def test_a_second_visit_brings_no_second_copy(transactional_db: None) -> None:
    for _ in range(2):
        client = Client()
        client.get(f"/enter/{sign_in.make_link_token()}")
    assert len(client.get("/api/playbooks").json()) == 1
