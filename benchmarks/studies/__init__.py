"""Studies: every method on every set of a folder, fold by fold, cached, then reported."""
