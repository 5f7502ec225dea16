"""Drives a turn: does the engine's effects and feeds back what happened; asyncio, no Django."""
