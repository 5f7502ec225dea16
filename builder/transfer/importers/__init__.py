"""Other products' files: one importer each, all of one small shape. Nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from builder.transfer.importers.llmrtc import Llmrtc
from builder.transfer.report import ReportEntry


class Importer(Protocol):
    """Makes a document of ours from another product's."""

    @property
    def product(self) -> str:
        """Its name, for people."""
        ...

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether the document (any JSON object) is one of that product's."""
        ...

    def convert(self, document: dict[str, Any]) -> Iterable[ReportEntry]:
        """Changes the document, a copy, in place; the entries name everything that was changed."""
        ...


IMPORTERS: Final[tuple[Importer, ...]] = (Llmrtc(),)


def importer_for(document: Mapping[str, Any]) -> Importer | None:
    """The first one that recognises the document; None for a document of our own."""
    return next((importer for importer in IMPORTERS if importer.recognises(document)), None)
