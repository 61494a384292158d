"""Values that all use cases share: pages, text, uploads."""
