"""One decision tree a person can read, with class probabilities a person can trust."""
