"""Conversations on branches: messages, turns, context, attachments, tools."""
