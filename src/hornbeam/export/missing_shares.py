"""The former name of `hornbeam.tree.evidence.fractional.child_shares`, until `hornbeam.explain` imports that."""

from hornbeam.tree.evidence.fractional import child_shares as missing_shares

__all__ = ["missing_shares"]
