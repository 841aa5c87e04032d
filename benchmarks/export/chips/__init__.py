"""Trees small enough for a chip: their size there, their predictions, and how fast they are on a desk."""
