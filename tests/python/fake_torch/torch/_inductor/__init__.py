"""Inductor as its artifacts show it: what it tells to the logger `torch.__trace` when it compiles, and nothing else of it."""
