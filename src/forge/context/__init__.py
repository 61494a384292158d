"""What a model is told about a branch: summaries of files, text of active files, instructions, and what it costs."""
