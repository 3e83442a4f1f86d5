"""A FAKE server for tests of the HTTP transport: answers each request with the misbehaviour that it names.

Over HTTP/1.1 the path names it ("/stall_in_body"), over HTTP/2 the request's body does. Listeners on 127.0.0.1, their
ports written to --port-file as JSON: plain; tls (offers http/1.1), tls_mute (offers nothing), h2 (HTTP/2), the three
with the certificate good.pem; self_signed, expired, wrong_host with those certificates; proxy (CONNECT).
GET /_log tells what was seen: connections and requests by listener, and behaviours whose peer closed or reset first.
Standard library only; HTTP/2 is in misbehaving_http2.py.
"""
import argparse
import collections
import gzip
import itertools
import json
import os
import select
import socket
import ssl
import struct
import threading
import time

import misbehaving_http2

LOCK = threading.Lock()
CONNECTIONS = collections.Counter()
REQUESTS = collections.Counter()
GONE = collections.Counter()
CHUNK = b"x" * 65536


def count(counter, key):
    with LOCK:
        counter[key] += 1


def head(status, *lines):
    return "\r\n".join([f"HTTP/1.1 {status} X", *lines, "", ""]).encode()


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def until_gone(connection, name):
    """Reads until the peer closes."""
    try:
        while connection.recv(65536):
            pass
    except OSError:
        pass
    count(GONE, name)


def drip(connection, data, name, seconds=0.02):
    try:
        for byte in itertools.cycle(data):
            connection.sendall(bytes([byte]))
            time.sleep(seconds)
    except OSError:
        count(GONE, name)


def flood(connection, data, name):
    try:
        while True:
            connection.sendall(data)
    except OSError:
        count(GONE, name)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def events(connection, number, seconds):
    connection.sendall(head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked"))
    for i in range(number):
        connection.sendall(chunk(b"event: delta\ndata: {\"n\": %d}\n\n" % i))
        time.sleep(seconds)
    connection.sendall(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")


HALF_JSON = b'{"choices": [{"message": {"content": "half'
ODD_EVENTS = (b"\x00\xff\xfe no colon here\n:::: comment\ndata\x00: not data\nevent\n: \ndata: {\"half\": \n\n"
              b"data\r\ndata:\xc3\x28\r\n\r\nretry: -1e9\nid: \x00\n\ndata: last")
PLAIN_BYTES = {
    "cut_before_headers": b"",
    "cut_in_headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "cut_in_body": head(200, "Content-Length: 100") + b"0123456789",
    "cut_in_chunk": head(200, "Transfer-Encoding: chunked") + b"a\r\n01234",
    "cut_between_chunks": head(200, "Transfer-Encoding: chunked") + chunk(b"0123456789"),
    "length_too_small": head(200, "Content-Length: 10") + b"0123456789ABCDEFGHIJ",
    "length_no_number": head(200, "Content-Length: banana") + b"0123456789",
    "length_negative": head(200, "Content-Length: -5") + b"0123456789",
    "chunk_no_number": head(200, "Transfer-Encoding: chunked") + b"zz\r\n0123456789\r\n0\r\n\r\n",
    "until_close": head(200) + b"0123456789",
    "gzip": head(200, "Content-Encoding: gzip", "Connection: close") + gzip.compress(b"0123456789"),
    "half_json": head(200, f"Content-Length: {len(HALF_JSON)}", "Connection: close") + HALF_JSON,
    "half_json_cut": head(200, "Content-Length: 1000") + HALF_JSON,
    "odd_events": head(200, "Content-Type: text/event-stream", "Connection: close") + ODD_EVENTS,
    "redirect_302": head(302, "Location: /target", "Content-Length: 0"),
    "redirect_308": head(308, "Location: /target", "Content-Length: 0"),
    "not_http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "bare_body": b"{\"no\": \"head\"}\n",
    "trailers": head(200, "Transfer-Encoding: chunked", "X-One: head", "Connection: close") + chunk(b"0123456789")
    + b"0\r\nX-One: trailer\r\nX-Two: trailer\r\n\r\n",
    "interim": head(100) + head(103, "Link: <x>") + head(200, "Content-Length: 10", "Connection: close") + b"0123456789",
    "switching": head(101, "Upgrade: websocket", "Connection: close"),
}


def answer(connection, name, rest, length):
    """One request of HTTP/1.1, its head read; False: the connection ends."""
    def take_body():
        missing = length - len(rest)
        while missing > 0:
            data = connection.recv(min(missing, 65536))
            if not data:
                return
            missing -= len(data)

    if name == "early":
        connection.sendall(head(413, "Content-Length: 9", "Connection: close") + b"too large")
        until_gone(connection, name)
        return False
    if name == "early_close":
        connection.sendall(head(413, "Content-Length: 9", "Connection: close") + b"too large")
        return False
    if name == "early_continues":
        connection.sendall(head(200, "Content-Length: 10") + b"0123456789")
        take_body()
        return True
    take_body()
    if name == "ok":
        connection.sendall(head(200, "Content-Length: 5") + b"hello")
        return True
    if name == "events":
        events(connection, 20, 0.005)
        return True
    if name == "stall_before_headers":
        until_gone(connection, name)
    elif name == "stall_in_headers":
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n")
        until_gone(connection, name)
    elif name == "stall_before_body":
        connection.sendall(head(200, "Content-Length: 100"))
        until_gone(connection, name)
    elif name == "stall_in_body":
        connection.sendall(head(200, "Content-Length: 100") + b"0123456789")
        until_gone(connection, name)
    elif name == "reset_before_headers":
        reset(connection)
    elif name == "reset_in_body":
        connection.sendall(head(200, "Content-Length: 100") + b"0123456789")
        time.sleep(0.1)
        reset(connection)
    elif name == "drip_headers":
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        drip(connection, b"X-A: b\r\n", name)
    elif name == "drip_body":
        connection.sendall(head(200, "Content-Length: 1000000"))
        drip(connection, b"x", name)
    elif name == "drip_comments":
        connection.sendall(head(200, "Content-Type: text/event-stream"))
        drip(connection, b":\n", name)
    elif name == "huge":
        connection.sendall(head(200, f"Content-Length: {50 << 20}"))
        for _ in range((50 << 20) // len(CHUNK)):
            connection.sendall(CHUNK)
    elif name == "endless":
        connection.sendall(head(200))
        flood(connection, CHUNK, name)
    elif name == "endless_event":
        connection.sendall(head(200, "Content-Type: text/event-stream") + b"data: ")
        flood(connection, CHUNK, name)
    elif name == "header_flood":
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        flood(connection, b"X-Flood: and another one\r\n" * 1000, name)
    elif name == "header_line":
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Flood: ")
        flood(connection, CHUNK, name)
    elif name == "interim_flood":
        flood(connection, head(100) * 1000, name)
    else:
        connection.sendall(PLAIN_BYTES[name])
    return False


def close(connection):
    """Without TLS's farewell, as a process that dies."""
    try:
        plain = socket.socket(fileno=connection.detach())
        try:
            plain.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        plain.close()
    except OSError:
        pass


def serve_http1(connection, listener):
    try:
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            request, data = data.split(b"\r\n\r\n", 1)
            lines = request.decode("latin-1").split("\r\n")
            name = lines[0].split(" ")[1].rsplit("/", 1)[-1]
            if name == "_log":
                with LOCK:
                    body = json.dumps({"connections": CONNECTIONS, "requests": REQUESTS, "gone": GONE}).encode()
                connection.sendall(head(200, f"Content-Length: {len(body)}") + body)
                continue
            count(REQUESTS, listener)
            count(REQUESTS, name)
            length = max([int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")] + [0])
            keep = answer(connection, name, data, length)
            data = data[length:]
            if not keep:
                return
    except OSError:
        pass
    finally:
        close(connection)


def serve_proxy(connection):
    try:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        target = data.split(b" ")[1].decode()
        count(REQUESTS, "proxy")
        if target.startswith("refused."):
            connection.sendall(head(403, "Content-Length: 0"))
            return
        host, port = target.rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        connection.sendall(head(200, "X-Proxy: yes"))
        pairs = {connection: server, server: connection}
        while True:
            for end in select.select(list(pairs), [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return
                pairs[end].sendall(data)
    except OSError:
        pass
    finally:
        connection.close()


def serve(connection, listener, context):
    count(CONNECTIONS, listener)
    if listener == "proxy":
        serve_proxy(connection)
        return
    if context is not None:
        try:
            connection.settimeout(20)
            connection = context.wrap_socket(connection, server_side=True)
            connection.settimeout(None)
        except (OSError, ssl.SSLError):
            connection.close()
            return
    if listener == "h2" and connection.selected_alpn_protocol() == "h2":
        misbehaving_http2.Connection(connection, listener, lambda key: count(REQUESTS, key),
                                     lambda key: count(GONE, key)).serve()
        close(connection)
    else:
        serve_http1(connection, listener)


def listen(listener, context):
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(1024)

    def accept():
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(connection, listener, context), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return server.getsockname()[1]


def tls(folder, certificate, protocols=()):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, certificate + ".pem"), os.path.join(folder, "key.pem"))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--certificates", required=True, help="folder with key.pem, good.pem, …")
    arguments = parser.parse_args()
    folder = arguments.certificates
    ports = {
        "plain": listen("plain", None),
        "tls": listen("tls", tls(folder, "good", ["http/1.1"])),
        "tls_mute": listen("tls_mute", tls(folder, "good")),
        "h2": listen("h2", tls(folder, "good", ["h2", "http/1.1"])),
        "proxy": listen("proxy", None),
    }
    for certificate in ("self_signed", "expired", "wrong_host"):
        ports[certificate] = listen(certificate, tls(folder, certificate))
    with open(arguments.port_file + ".new", "w", encoding="utf-8") as file:
        json.dump(ports, file)
    os.rename(arguments.port_file + ".new", arguments.port_file)
    threading.Event().wait()


if __name__ == "__main__":
    main()
