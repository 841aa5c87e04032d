"""A tree in other languages."""
