"""Exported files without a GPU: launches are recorded by a stand-in (stand_in.py) and compared, argument by argument,
with the worker's own expansion of the plan. No kernel runs here; tests/gpu/exports/run.py runs them on a GPU.
"""
import unittest

from exports_compiling import Compiling  # noqa: F401
from exports_fixture import exported
from exports_launches import Launches  # noqa: F401
from exports_weights import Weights  # noqa: F401


def tearDownModule():
    exported().folder.cleanup()


if __name__ == "__main__":
    unittest.main(verbosity=2)
