"""Steps that change what a tree believes."""
