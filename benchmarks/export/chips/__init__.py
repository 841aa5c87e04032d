"""Trees small enough for a chip: what they weigh there, what they answer, and how fast they are on a desk."""
