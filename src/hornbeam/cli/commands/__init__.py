"""The commands of ``hornbeam``, one file per command, named like it."""
