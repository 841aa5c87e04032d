"""Thin Python faces of the compiled kernels: arrays in, arrays out."""
