"""What a process needs around its use cases: engine, server lock, retention, memory, logs."""
