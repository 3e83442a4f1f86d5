"""Entry point: python3 -m warpsmith_oracle [--device cpu] [--memory-bytes N] [--threads N] [--reserve-bytes N]
[--timings]."""

import sys

from warpsmith_oracle.protocol import main

sys.exit(main(sys.argv[1:]))
