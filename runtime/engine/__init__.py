"""Decides: step(playbook, state, happened, now) -> Step; a value and a function, no clock and no chance."""
