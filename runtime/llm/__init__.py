"""Models: the LLM protocol, its adapters, retries. Only the adapters import the vendors' packages, lazily."""
