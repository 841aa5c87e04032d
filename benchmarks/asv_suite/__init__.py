"""Our own speed over time. asv imports this folder alone, so the generator beside it needs a path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
