"""No sockets from here on, for this process, its threads and whatever it starts: CUDA shares memory over local sockets,
so the process's first filter allows them, and a local socket could reach services of this machine. A second seccomp
filter, which no process can take off again.

Source of the method: seccomp(2); a classic BPF program of the system call's number.
"""

import ctypes
import os
import platform
import struct

_CALLS = {  # socket, socketpair, bind, listen, accept, connect, accept4
    "x86_64": (0xC000003E, 317, (41, 53, 49, 50, 43, 42, 288)),
    "aarch64": (0xC00000B7, 277, (198, 199, 200, 201, 202, 203, 242)),
}
_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000
_X32 = 0x40000000  # calls of x86's third interface have numbers of their own
_SET_FILTER, _ALL_THREADS = 1, 1


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def _instructions(architecture, calls):
    lines = [(_LOAD_WORD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD_WORD, 0, 0, 0),
             (_JUMP_AT_LEAST, len(calls) + 1, 0, _X32)]
    for index, call in enumerate(calls):
        lines.append((_JUMP_EQUAL, len(calls) - index, 0, call))
    return lines + [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]


def close():
    """RuntimeError where this machine cannot."""
    machine = platform.machine()
    if machine not in _CALLS:
        raise RuntimeError(f"system calls of {machine} are not known here")
    architecture, seccomp, calls = _CALLS[machine]
    lines = _instructions(architecture, calls)
    content = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = _Program(len(lines), ctypes.cast(content, ctypes.c_void_p))
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(ctypes.c_long(seccomp), ctypes.c_long(_SET_FILTER), ctypes.c_long(_ALL_THREADS),
                       ctypes.byref(program)) != 0:
        raise RuntimeError(f"seccomp refused a filter: {os.strerror(ctypes.get_errno())}")
