"""Use cases: what a person or program asks for, put together from the parts below."""
