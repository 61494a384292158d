"""Projects on disk: directories that people read and edit, with a history in which nothing is lost."""
