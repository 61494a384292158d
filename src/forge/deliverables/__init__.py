"""The kinds of things that Forge delivers. Each one is a plugin like any stranger's."""
