"""A small collector: takes OTLP over HTTP, reads its protocol buffers, can be slow, down or rude."""

import gzip
import http.server
import struct
import threading
import time


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def fields(data):
    """(number, value) of a message; messages and texts come as bytes, fixed64 as 8 bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field is cut off"
        else:
            raise AssertionError(f"wire type {kind}")
        yield key >> 3, value


def every(data, number):
    return [value for n, value in fields(data) if n == number]


def first(data, number, fallback=b""):
    return next(iter(every(data, number)), fallback)


def attributes(data, number):
    found = {}
    for pair in every(data, number):
        (kind, value), = fields(first(pair, 2))
        found[first(pair, 1).decode()] = (
            value.decode() if kind == 1 else struct.unpack("<d", value)[0] if kind == 4 else value)
    return found


class Span:
    def __init__(self, data, resource):
        self.resource = resource
        self.trace_id, self.id = first(data, 1).hex(), first(data, 2).hex()
        self.parent, self.state = first(data, 4).hex(), first(data, 3).decode()
        self.name, self.kind = first(data, 5).decode(), first(data, 6)
        self.start, self.end = (struct.unpack("<Q", first(data, n))[0] for n in (7, 8))
        self.attributes = attributes(data, 9)
        self.status = first(first(data, 15), 3, 0)
        assert len(self.trace_id) == 32 and len(self.id) == 16 and self.end >= self.start


class Collector:
    def __init__(self, port=0):
        self.spans, self.metrics, self.calls, self.headers = [], {}, [], []
        self.answers = []  # statuses to answer first, or (status, headers)
        self.delay = 0
        self.rejected = 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.take(self)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, handler):
        body = handler.rfile.read(int(handler.headers["content-length"]))
        self.headers.append(dict(handler.headers))
        self.calls.append((time.monotonic(), handler.path))
        time.sleep(self.delay)
        status = self.answers.pop(0) if self.answers else 200
        status, more = status if isinstance(status, tuple) else (status, {})
        if status == 200:
            if handler.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            self.read(handler.path, body)
        answer = b""
        if status == 200 and self.rejected:
            inner = b"\x08" + bytes([self.rejected])
            answer = b"\x0a" + bytes([len(inner)]) + inner
        handler.send_response(status)
        for name, value in more.items():
            handler.send_header(name, value)
        handler.send_header("content-type", "application/x-protobuf")
        handler.send_header("content-length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    def read(self, path, body):
        for part in every(body, 1):
            resource = attributes(first(part, 1), 1)
            for scope in every(part, 2):
                if path == "/v1/traces":
                    self.spans += [Span(span, resource) for span in every(scope, 2)]
                for metric in every(scope, 2) if path == "/v1/metrics" else []:
                    self.metrics[first(metric, 1).decode()] = metric

    def roots(self, route=None):
        return [s for s in self.spans if s.kind == 2
                and (route is None or s.attributes["http.route"] == route)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
