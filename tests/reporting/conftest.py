"""Let these tests import each other and the hostile names of the exports."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "export"))  # whichever way pytest imports them
sys.path.insert(0, str(Path(__file__).parent))
