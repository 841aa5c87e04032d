"""Steps that change the shape of a tree."""
