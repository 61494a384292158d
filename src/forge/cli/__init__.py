"""The command line. Starting it imports only the command that runs."""
