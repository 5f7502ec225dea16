"""Reads and writes playbook files, ours and others'; upgrades old ones. Plain Python: no framework, no clock."""
