"""Operations: every move of a ref, with who made it and why, recorded before it happens."""
