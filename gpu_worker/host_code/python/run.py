"""Entry point: python3 -I -B run.py --role candidate|reference [--device cpu] [--threads N] [--memory-bytes N]
[--oracle FOLDER] [--folder FOLDER]."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from warpsmith_host_code.protocol import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
