"""What a conversation costs, built our way and the ways of others: `python -m tests.bench.cost`."""
