"""A relay between two Unix sockets that can be cut: what a network does to a stream, without touching the machine's."""
import os
import socket
import threading
import time


class Proxy:
    """Relays connections of `listen` to `target` until told otherwise. Safe from any thread."""

    def __init__(self, listen, target):
        self.listen, self.target = listen, target
        self._mode = "pass"  # pass; hold: nothing moves, nobody is told; cut: connections end, new ones are refused
        self._lock = threading.Lock()
        self._open = set()
        if os.path.exists(listen):
            os.unlink(listen)
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(listen)
        os.chmod(listen, 0o777)
        self._server.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, mode):
        with self._lock:
            self._mode = mode
            doomed = list(self._open) if mode == "cut" else []
        for end in doomed:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            if self._mode == "cut":
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                server.connect(self.target)
            except OSError:
                client.close()
                server.close()
                continue
            with self._lock:
                self._open.update((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._relay, args=(source, sink), daemon=True).start()

    def _relay(self, source, sink):
        try:
            while True:
                data = source.recv(1 << 16)
                while self._mode == "hold":
                    time.sleep(0.02)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with self._lock:
                self._open.discard(end)
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            if end is source:
                end.close()
