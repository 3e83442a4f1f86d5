"""The HTTP/2 side of the FAKE misbehaving server: the request's body names the behaviour.

Spoken as far as libcurl needs: requests' headers are not decoded, windows are taken to be wide enough. A behaviour is a
generator of frames to send (bytes), seconds to wait (numbers), or None: the connection dies.
"""
import collections
import heapq
import itertools
import select
import struct
import time


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def headers2(stream, status, end=False, extra=b""):
    block = literal(b":status", str(status).encode()) + literal(b"content-type", b"text/event-stream") + extra
    return frame(1, 0x4 | (0x1 if end else 0), stream, block)


def data2(stream, data, end=False):
    return frame(0, 0x1 if end else 0, stream, data)


def behave2(stream, name):
    if name == "stall_before_headers":
        return
    if name == "stall_before_body":
        yield headers2(stream, 200)
    elif name == "stall_in_body":
        yield headers2(stream, 200) + data2(stream, b"0123456789")
    elif name == "reset_before_headers":
        yield frame(3, 0, stream, struct.pack(">I", 2))
    elif name == "refused":
        yield frame(3, 0, stream, struct.pack(">I", 7))
    elif name == "reset_in_body":
        yield headers2(stream, 200) + data2(stream, b"0123456789")
        yield 0.1
        yield frame(3, 0, stream, struct.pack(">I", 2))
    elif name == "cut_in_body":
        yield headers2(stream, 200) + data2(stream, b"0123456789")
        yield None
    elif name == "length_too_long":
        yield headers2(stream, 200, extra=literal(b"content-length", b"100")) + data2(stream, b"0123456789", True)
    elif name == "goaway":
        yield frame(7, 0, 0, struct.pack(">II", 0, 11)) + b""
        yield None
    elif name == "drip_body":
        yield headers2(stream, 200)
        while True:
            yield data2(stream, b"x")
            yield 0.02
    elif name == "gzip":
        yield headers2(stream, 200, extra=literal(b"content-encoding", b"gzip")) + data2(stream, b"x", True)
    elif name == "header_flood":
        for i in range(10000):
            yield frame(1 if i == 0 else 9, 0, stream, literal(b":status", b"200") if i == 0 else
                        literal(b"x-flood", b"y" * 100) * 50)
    elif name == "huge":
        yield headers2(stream, 200)
        for _ in range((50 << 20) // 16384):
            yield data2(stream, b"x" * 16384)
        yield data2(stream, b"", True)
    elif name == "garbage":
        yield b"\xff" * 100
    elif name == "events":
        yield headers2(stream, 200)
        for i in range(20):
            yield data2(stream, b"event: delta\ndata: {\"n\": %d}\n\n" % i)
            yield 0.005
        yield data2(stream, b"data: [DONE]\n\n", True)
    else:
        yield headers2(stream, 200) + data2(stream, b"hello", True)


class Connection:
    """`requested` and `gone` are called with what is counted."""

    def __init__(self, connection, listener, requested, gone):
        self.connection, self.listener = connection, listener
        self.requested, self.gone = requested, gone
        self.names, self.bodies = {}, collections.defaultdict(bytes)
        self.due, self.order = [], itertools.count()
        self.incoming = b""

    def serve(self):
        try:
            self.connection.settimeout(20)
            while len(self.incoming) < 24:
                self.read()
            self.incoming = self.incoming[24:]
            self.connection.sendall(frame(4, 0, 0, struct.pack(">HIHI", 3, 100, 4, 1 << 30))
                                    + frame(8, 0, 0, struct.pack(">I", 1 << 30)))
            while True:
                self.take_frames()
                self.send_due()
                wait = max(0.0, self.due[0][0] - time.monotonic()) if self.due else 20.0
                if not self.connection.pending() and not select.select([self.connection], [], [], wait)[0]:
                    continue
                self.read()
        except (OSError, EOFError):
            for name in self.names.values():
                self.gone(name)

    def read(self):
        data = self.connection.recv(65536)
        if not data:
            raise EOFError
        self.incoming += data

    def take_frames(self):
        while len(self.incoming) >= 9:
            length = int.from_bytes(self.incoming[:3], "big")
            if len(self.incoming) < 9 + length:
                return
            kind, flags = self.incoming[3], self.incoming[4]
            stream = int.from_bytes(self.incoming[5:9], "big")
            payload, self.incoming = self.incoming[9:9 + length], self.incoming[9 + length:]
            if kind == 0:
                self.bodies[stream] += payload
                if self.bodies[stream].startswith(b"early\n") and stream not in self.names:
                    self.names[stream] = "early"
                    self.requested("early")
                    self.connection.sendall(headers2(stream, 413) + data2(stream, b"too large", True)
                                            + frame(3, 0, stream, struct.pack(">I", 0)))
                if length:
                    self.connection.sendall(frame(8, 0, stream, struct.pack(">I", length))
                                            + frame(8, 0, 0, struct.pack(">I", length)))
            elif kind == 3:
                self.gone(self.names.pop(stream, "unknown"))
            elif kind == 4 and not flags & 1:
                self.connection.sendall(frame(4, 1, 0, b""))
            elif kind == 6 and not flags & 1:
                self.connection.sendall(frame(6, 1, 0, payload))
            if kind in (0, 1) and flags & 1 and stream not in self.names:
                name = self.bodies.pop(stream, b"ok").split(b"\n")[0].decode()
                self.names[stream] = name
                self.requested(self.listener)
                self.requested(name)
                self.schedule(0, stream, behave2(stream, name))

    def schedule(self, seconds, stream, behaviour):
        heapq.heappush(self.due, (time.monotonic() + seconds, next(self.order), stream, behaviour))

    def send_due(self):
        while self.due and self.due[0][0] <= time.monotonic():
            _, _, stream, behaviour = heapq.heappop(self.due)
            step = next(behaviour, StopIteration) if stream in self.names else StopIteration
            if step is None:
                raise EOFError
            if step is StopIteration:
                continue
            if isinstance(step, bytes):
                self.connection.sendall(step)
                step = 0
            self.schedule(step, stream, behaviour)
