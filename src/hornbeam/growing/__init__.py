"""From binned rows to a tree."""
