"""Refs: moved by compare-and-swap in one place, held, reserved, listed as branches, recorded as operations."""
