"""Texts to measure redaction by: secrets of many formats, and ordinary texts that hold none."""
