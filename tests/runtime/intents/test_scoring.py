"""From likenesses to confidence, and what the words alone can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple

import pytest

from runtime.engine.intents import Intent
from runtime.intents.background import BACKGROUND
from runtime.intents.lexical import Lexical, terms
from runtime.intents.scoring import FITTED, LONGEST, Calibration, Features, classify, features_of, lines_of

REFUND = Intent(
    "refund", "The customer wants their money back.", ("I want my money back", "refund me please")
)
TRACK = Intent("track", "The customer asks where a parcel is.", ("Where is my parcel?", "track my package"))


class Given:
    """Likenesses as a test gives them, by line; 0 for all others."""

    name = "given"
    in_thread = False
    calibration = Calibration(constant=0.0, likeness=1.0, lead_over_next=2.0, lead_over_others=4.0, known=8.0)

    def __init__(self, **likenesses: float) -> None:
        self.likeness = {line.replace("_", " "): value for line, value in likenesses.items()}
        self.texts: list[str] = []

    def likenesses(self, text: str, lines: tuple[str, ...]) -> Sequence[float]:
        self.texts.append(text)
        return [self.likeness.get(line, 0.0) for line in lines]


def rounded(features: Features) -> tuple[float, ...]:
    """Its four numbers."""
    return tuple(round(number, 3) for number in astuple(features))


def chance(z: float) -> float:
    return 1 / (1 + math.exp(-z))


def test_an_intent_is_as_like_as_its_two_likest_lines_and_leads_over_the_next() -> None:
    given = Given(a=0.8, b=0.6, c=0.1, d=0.5, hello=0.4)
    intents = [Intent("one", "", ("a", "b", "c")), Intent("two", "d")]
    one, two = features_of(given, "x", intents)
    assert rounded(one) == (0.7, 0.2, 0.2, 0.693)
    assert rounded(two) == (0.5, -0.2, -0.2, 0.693)


def test_it_leads_over_the_next_and_over_the_others_on_average() -> None:
    intents = [Intent(name, "", (name,)) for name in "abc"]
    one, two, _ = features_of(Given(a=0.8, b=0.6, c=0.1), "x", intents)
    assert rounded(one) == (0.8, 0.2, 0.45, 1.099)
    assert rounded(two) == (0.6, -0.2, 0.15, 1.099)


def test_more_intents_than_were_fitted_to_count_as_the_most_of_them() -> None:
    few, many = ([Intent(f"i{n}", "", (f"i{n}",)) for n in range(count)] for count in (FITTED, 40))
    assert features_of(Given(), "x", few)[0].known == features_of(Given(), "x", many)[0].known


def test_a_stage_that_knows_more_of_what_people_ask_for_is_surer() -> None:
    two = [Intent("one", "", ("a",)), Intent("two", "", ("b",))]
    four = [*two, Intent("three", "", ("c",)), Intent("four", "", ("d",))]
    likeness = Given(a=0.5, b=0.25, c=0.25, d=0.25)
    assert classify(likeness, "x", four).confidence > classify(likeness, "x", two).confidence


def test_a_single_intent_leads_over_the_background() -> None:
    given = Given(a=0.5, hello=0.7, okay=0.7)
    [features] = features_of(given, "x", [Intent("one", "", ("a",))])
    assert rounded(features) == (0.5, -0.2, -0.2, 0.0)


def test_the_likeliest_intent_and_its_confidence_are_given_with_all_scores() -> None:
    found = classify(Given(a=0.5, b=0.25), "x", [Intent("one", "", ("a",)), Intent("two", "", ("b",))])
    assert found.intent == "one"
    assert (
        found.confidence
        == found.scores["one"]
        == pytest.approx(chance(0.5 + 2 * 0.25 + 4 * 0.25 + 8 * math.log(2)))
    )
    assert found.scores["two"] == pytest.approx(chance(0.25 - 2 * 0.25 - 4 * 0.25 + 8 * math.log(2)))


def test_a_message_that_is_like_nothing_has_no_intent() -> None:
    found = classify(Given(), "x", [Intent("one", "", ("a",)), Intent("two", "", ("b",))])
    assert (found.intent, found.confidence, dict(found.scores)) == (None, 0.0, {"one": 0.0, "two": 0.0})


def test_an_intent_without_lines_stands_for_its_name() -> None:
    assert lines_of(Intent("order_status")) == ("order status",)
    assert lines_of(REFUND) == (*REFUND.examples, REFUND.description)


def test_only_the_begin_of_a_long_message_is_looked_at() -> None:
    given = Given()
    classify(given, "x" * 100_000, [REFUND])
    assert given.texts == ["x" * LONGEST]


def test_a_calibration_is_a_probability_whatever_it_is_given() -> None:
    steep = Calibration(0.0, 1e9, 0.0, 0.0, 0.0)
    found = [
        steep.confidence(features) for features in features_of(Given(a=1.0), "x", [Intent("i", "", ("a",))])
    ]
    assert all(0 <= confidence <= 1 for confidence in found)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("I want my money back", "refund"),
        ("REFUND, PLEASE!", "refund"),
        ("could you refund the order", "refund"),
        ("please track it", "track"),
    ],
)
def test_words_and_pieces_of_words_tell_plain_messages_apart(text: str, intent: str) -> None:
    found = classify(Lexical(), text, [REFUND, TRACK])
    assert (found.intent, found.classifier) == (intent, "keyword")
    assert found.confidence > 0.5


@pytest.mark.parametrize(
    "text", ["hello", "thank you", "what's the weather like today?", "🙂", "...", "12345"]
)
def test_small_talk_is_no_intent(text: str) -> None:
    assert classify(Lexical(), text, [REFUND, TRACK]).confidence < 0.4


def test_a_script_without_blanks_is_told_apart_by_its_pieces() -> None:
    refund = Intent("refund", "", ("返金してほしい", "お金を返してください"))
    track = Intent("track", "", ("荷物はどこですか", "配送状況を知りたい"))
    found = classify(Lexical(), "荷物はいまどこですか", [refund, track])
    assert found.intent == "track"


def test_case_and_compatible_forms_are_one_word() -> None:
    assert terms("Straße") == terms("STRASSE")
    assert terms("ｒｅｆｕｎｄ") == terms("refund")


def test_the_same_message_has_the_same_answer() -> None:
    assert classify(Lexical(), "my money", [REFUND, TRACK]) == classify(
        Lexical(), "my money", [REFUND, TRACK]
    )


def test_the_background_has_no_line_twice() -> None:
    assert len(set(BACKGROUND)) == len(BACKGROUND)
