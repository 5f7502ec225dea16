"""What a conversation costs, with our way of building windows and with others: `python -m tests.bench.cost`."""
