"""Reads and writes playbook files, ours and others'; upgrades old ones. Plain Python: no framework."""

from builder.transfer.loading import Loaded, load
from builder.transfer.reading import UnreadableJson, read_json
from builder.transfer.report import ReportEntry
from builder.transfer.writing import SCHEMA_ID, canonical, export, file_name

__all__ = [
    "SCHEMA_ID",
    "Loaded",
    "ReportEntry",
    "UnreadableJson",
    "canonical",
    "export",
    "file_name",
    "load",
    "read_json",
]
