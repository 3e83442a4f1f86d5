"""What a candidate did wrong, as an answer: a kind and a sentence.

Kinds: source (it does not import), no_model (no class ModelNew), constructor, forward, output (not the tensors that the
module returns), memory. Of the process itself: request, sandbox.
"""

import os
import traceback

MAX_MESSAGE = 3000
_MEMORY_SIGNS = ("can't allocate memory", "not enough memory", "out of memory", "std::bad_alloc",
                 "cannot allocate memory")


class Fault(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message[:MAX_MESSAGE]


def _line_of(error, path):
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else 0


def _text_of(error):
    """The last lines say most: a compiler's log ends with its errors."""
    text = error.msg if isinstance(error, SyntaxError) and error.msg else str(error)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(lines) <= 12:
        return "\n".join(lines)[:MAX_MESSAGE]
    errors = [line for line in lines[1:] if "error" in line.lower()][:10]
    return "\n".join(lines[:1] + (errors or lines[-10:]))[:MAX_MESSAGE]


def fault_of(error, kind, what, path):
    """A Fault for what the code in file `path` raised while doing `what`."""
    if isinstance(error, Fault):
        return error
    text = _text_of(error)
    if isinstance(error, MemoryError) or any(sign in text.lower() for sign in _MEMORY_SIGNS):
        kind = "memory"
    line = _line_of(error, path)
    where = f", line {line}" if line else ""
    message = f"{what}{where}: {type(error).__name__}: {text or 'no message'}"
    folder = os.path.dirname(path)
    return Fault(kind, message.replace(folder + os.sep, "") if folder else message)
