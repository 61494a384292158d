"""The documentation of the API, made from the routes."""
