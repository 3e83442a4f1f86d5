"""Errors that name the file, the line and the remedy.

Kinds of a refused problem: import, no_model, inputs, forward, no_tensor, memory, stochastic, timeout. Kinds of a wrong
request: request. Kind of a fault of ours: internal.
"""

import os
import re
import sys
import traceback

REMEDIES = {
    "import": "the file must import on its own, with PyTorch and the standard library only",
    "no_model": "define class Model(torch.nn.Module) that Model(*get_init_inputs()) can build",
    "inputs": "get_inputs() must return a list with one entry for each argument of forward(), on the CPU",
    "forward": "Model(*get_init_inputs())(*get_inputs()) must run as it stands",
    "memory": "make the sizes at the top of the file smaller, or use a machine with more memory",
}

_MEMORY_SIGNS = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc",
                 "cannot allocate memory")


class OracleError(Exception):
    """An answer to the caller: a kind from the list above, and a sentence for people."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message


def is_memory_error(error):
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _MEMORY_SIGNS)


def line_of(error, path):
    """The last line of the problem's file that the error passed through; 0 where it did not."""
    if isinstance(error, SyntaxError) and error.filename and os.path.basename(error.filename) == os.path.basename(path):
        return error.lineno or 0
    line = 0
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno
    return line


def refuse(error, kind, what, problem_file):
    """An OracleError for an exception that the problem's own code raised while doing `what`."""
    if isinstance(error, OracleError):
        return error
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    text = lines[0][:400] if lines else "no message"
    remedy = REMEDIES.get(kind, "")
    if is_memory_error(error):
        kind = "memory"
        remedy = REMEDIES["memory"]
    elif "cuda" in text.lower() or "nvidia" in text.lower():
        remedy = "leave tensors and modules on the CPU; the worker moves them to its device itself"
    elif isinstance(error, ModuleNotFoundError):
        remedy = f"install the module {error.name!r} for this Python, or do without it"
    elif isinstance(error, (AttributeError, ImportError)) and re.search(r"(module|from) '?torch\b", text):
        version = sys.modules["torch"].__version__ if "torch" in sys.modules else "?"
        wanted = "this needs PyTorch 2.x" if version.startswith("1.") else "this needs another PyTorch"
        remedy = f"{wanted}, and {version} runs here: use that one for the worker, or do without it"
    elif "not implemented for 'Half'" in text:
        remedy = "PyTorch cannot run this in float16 on a CPU; take this problem in on a worker with a GPU"
    line = line_of(error, problem_file.path)
    where = f"{problem_file.display_name}, line {line}" if line else problem_file.display_name
    return OracleError(kind, f"{where}: {what} failed: {type(error).__name__}: {text}; {remedy}")
