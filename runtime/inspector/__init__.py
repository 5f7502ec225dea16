"""Reads events into views: timeline, calls, window diff, cache report; plain Python."""
