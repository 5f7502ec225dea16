"""`python -m tests.bench.cost [a b c d e] [--sessions N] [--out FILE]`: what conversations cost.

Each workload is played at each read price: every row of `rows.py`. Deterministic; a few minutes on two
processors. Printed are costs as parts of what our requests would have cost uncached; all figures go to a JSON
file (build/cost.json).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import reduce
from operator import add
from pathlib import Path

from tests.bench.cost.goals import Goal, goals
from tests.bench.cost.rows import OURS, READ_PRICES, Row, Rows, rows_of
from tests.bench.cost.workloads import WORKLOADS

OUT = Path(__file__).parents[3] / "build" / "cost.json"
Job = tuple[str, int | None, int, float]
"""Workload, sessions of it, which one, read price."""


def run(job: Job) -> tuple[Job, Rows]:
    """One conversation."""
    key, sessions, number, read = job
    workload = WORKLOADS[key](sessions) if sessions else WORKLOADS[key]()
    return job, rows_of(workload, workload.scripts[number], read)


def measured(keys: Sequence[str], sessions: int | None) -> dict[str, dict[float, Rows]]:
    """Workload -> read price -> rows, summed over its conversations."""
    counts = {key: len((WORKLOADS[key](sessions) if sessions else WORKLOADS[key]()).scripts) for key in keys}
    jobs = [(key, sessions, n, read) for key in keys for read in READ_PRICES for n in range(counts[key])]
    parts: dict[str, dict[float, list[Rows]]] = {key: {read: [] for read in READ_PRICES} for key in keys}
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for (key, _, _, read), rows in pool.map(run, jobs):
            parts[key][read].append(rows)
    return {key: {read: summed(rows) for read, rows in by.items()} for key, by in parts.items()}


def summed(parts: Sequence[Rows]) -> Rows:
    """Each row, over all conversations."""
    return {name: reduce(add, (rows[name] for rows in parts)) for name in parts[0]}


def show(key: str, by_price: dict[float, Rows]) -> None:
    """One table."""
    first = by_price[READ_PRICES[0]]
    title = WORKLOADS[key](1).title
    calls, raw = first[OURS].calls, first[OURS].raw
    print(f"\n({key}) {title}: {calls:,} calls, {raw:,} tokens uncached")
    print(f"{'':32}" + "".join(f"{f'r = {read}':>9}" for read in by_price) + "   tokens  largest   faults")
    for name in first:
        costs = "".join(f"{rows[name].cost / rows[OURS].raw:9.4f}" for rows in by_price.values())
        row = first[name]
        print(f"{name:32}{costs}{row.raw / raw:9.2f}{row.largest:9,}{row.faults + row.over:9,}")


def show_goals(found: Sequence[Goal]) -> None:
    """What was to be reached, and what was."""
    print("\ngoals")
    for goal in found:
        print(f"{'reached' if goal.reached else 'MISSED':8} {goal.value:9.4f}  {goal.words}")


def as_json(table: dict[str, dict[float, Rows]], found: Sequence[Goal]) -> str:
    """Everything that was measured."""
    rows = {
        key: {str(read): {name: _plain(row) for name, row in rows.items()} for read, rows in by.items()}
        for key, by in table.items()
    }
    reached = [{"goal": goal.words, "value": goal.value, "reached": goal.reached} for goal in found]
    return json.dumps({"rows": rows, "goals": reached}, indent=1)


def _plain(row: Row) -> dict[str, float]:
    return {**asdict(row), "cost": round(row.cost, 1)}


def main() -> None:
    """Measures, prints, writes."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("workloads", nargs="*", default=list(WORKLOADS))
    asked.add_argument("--sessions", type=int, help="conversations of each workload")
    asked.add_argument("--out", type=Path, default=OUT)
    given = asked.parse_args()
    table = measured(given.workloads, given.sessions)
    for key, by_price in table.items():
        show(key, by_price)
    found = goals(table)
    show_goals(found)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(as_json(table, found), encoding="utf-8")


if __name__ == "__main__":
    main()
