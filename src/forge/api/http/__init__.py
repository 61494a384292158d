"""What every request and response has in common: bodies, errors, headers, ranges, routing."""
