"""Plays a script through the real engine: scripted models and tools, a clock that jumps, no database."""
