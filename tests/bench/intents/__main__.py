"""How well the classifiers tell intents apart: `python -m tests.bench.intents [--fit]`.

Printed for the test set, among all eight intents and in stages with some of them: how often the likeliest
intent is the right one, what a rule that needs 0.6 does, and for each band of confidence what share is right.
`--fit` fits the calibrations to stages of the fit set and prints the constants for `runtime/intents`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from statistics import median

from runtime.intents.embedding import Embedding, installed
from runtime.intents.lexical import Lexical
from runtime.intents.scoring import Likeness, classify
from tests.bench.intents.data import Choice, Domain, measured_domain, stages, whole
from tests.bench.intents.fitting import fitted
from tests.bench.intents.measuring import THRESHOLD, Figures, answers, figures
from tests.bench.intents.remembering import RememberingEmbedding


def classifiers() -> list[Likeness]:
    """Those that can run here."""
    if installed():
        return [Lexical(), RememberingEmbedding()]
    print("The embedding classifier is left out: its packages (requirements-intent.lock) are not installed.")
    return [Lexical()]


def print_fit(by: Likeness) -> None:
    """The constants that the fit set gives."""
    print(f"{by.name}: {fitted(by)}")


def print_figures(by: Likeness) -> None:
    """Each task, and the time of a classification."""
    domain = measured_domain()
    timed = Embedding() if isinstance(by, Embedding) else by
    print(f"\n{by.name}: {median(times(timed)):.2f} ms a message (median)")
    for title, choices in tasks(domain):
        print_task(title, figures(answers(by, choices)))


def tasks(domain: Domain) -> Iterator[tuple[str, Iterable[Choice]]]:
    """All intents at once, and stages with some of them."""
    yield "all eight intents", whole(domain)
    for size in (6, 4, 3, 2, 1):
        yield f"{size} of the eight", stages(domain, size)


def times(by: Likeness) -> list[float]:
    """Milliseconds of each classification of the test set, its lines known."""
    taken = []
    for choice in whole(measured_domain()):
        classify(by, "warm up", choice.intents)
        began = time.perf_counter()
        classify(by, choice.text, choice.intents)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def print_task(title: str, found: Figures) -> None:
    """A block of lines."""
    print(f"  {title}: {found.count} choices, likeliest intent right {found.likeliest_right:.0%}")
    print(
        f"    at {THRESHOLD}: precision {found.precision:.0%}, recall {found.recall:.0%}, "
        f"accuracy with “none” {found.accuracy:.0%}; Brier score {found.brier:.3f}"
    )
    for band in found.bands:
        print(
            f"    confidence {band.low:.1f} to {band.high:.1f}: {band.count:4} answers, "
            f"stated {band.stated:.2f}, right {band.right:.2f}"
        )


def main() -> None:
    """Both classifiers."""
    for by in classifiers():
        (print_fit if "--fit" in sys.argv[1:] else print_figures)(by)


if __name__ == "__main__":
    main()
