"""Projects: their catalog, messages, actions, runs, documents, board and view."""
