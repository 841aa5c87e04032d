"""``python -m hornbeam`` is the command line too."""

from hornbeam.cli import main

main()
