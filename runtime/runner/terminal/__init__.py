"""A chat in the terminal: reads lines, streams replies, shows tools and moves quietly. No database."""
