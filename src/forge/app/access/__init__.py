"""Who a person is, what they may do, their keys, and the audit of it."""
