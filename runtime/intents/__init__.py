"""Tells intents apart: how like the author's lines a message is, and how likely that makes each."""
