"""The conversation of a branch: its messages, how they are kept in the branch itself, and what must not be in them."""
