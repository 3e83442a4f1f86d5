#!/usr/bin/env python3
"""A FAKE model server for tests: it speaks OpenAI's chat completions over HTTP and misbehaves where a scenario says so.

It is no model. To a prompt for ideas it answers with ideas in JSON, to any other prompt with a candidate file that it was
given. Standard library only.

    fake_openai_server.py --port-file PORT [--script SCENARIOS.json] [--candidate NAME=FILE.cu ...] [--ideas IDEAS.json]
                          [--key KEY] [--certificate FILE.pem]

--candidate may be repeated: the files of a problem NAME (the prompt says "Problem: NAME") are given in turn, and those of
"*" to any problem without files of its own. --key: requests without "Authorization: Bearer KEY" are answered with 401.

The base URL is http://127.0.0.1:PORT/SCENARIO/v1; without a scenario (http://127.0.0.1:PORT/v1) every answer is "auto".
SCENARIOS.json: {"SCENARIO": [ACTION, ...]}. Request n of a scenario gets action n; the last one repeats. An action is an
object with any of

    reply           the text of the answer; left out: auto as above. "@ideas" and "@code" force one of them
    reasoning       text sent as reasoning_content before the answer; with "reasoning_key" under another name
    finish_reason   default stop; null leaves it out
    usage           an object; default counts characters
    status, headers, body   another status, more headers, a body as it stands (then nothing below applies but delays and cuts)
    delay_s         wait before the head of the answer
    stall_s         wait after the head, before the first byte of the body
    stall_after     after so many events wait stall_mid_s
    cut_after       after so many events close the connection
    slow_s          wait so long between events
    chunk           characters of text an event (default 40)
    split           send the stream in pieces of so many bytes
    crlf            lines end in CR LF
    comments        a comment line before every event
    malformed       after so many events send an event that is no JSON
    error_event     after so many events send an error in the stream
    no_done         leave out "data: [DONE]"
    no_stream       answer with one JSON object
    content_length  say this length, whatever is sent
    repeat_bytes    send so many bytes of answer text
    gzip            send the answer compressed, asked for or not
    close           close the connection without any answer
    vectors         POST /SCENARIO/v1/embeddings: the vector of each text, by the text

GET /_requests gives what was received: [{"scenario", "path", "headers", "body", "closed_early"}].
"""

import argparse
import gzip
import json
import re

from fake_serving import RecordingHandler, Scenarios, serve

CATEGORIES = ["parallelism_occupancy", "memory_access", "compute", "async_latency", "control_flow", "precision"]


class State(Scenarios):
    def __init__(self, arguments):
        super().__init__(arguments.script)
        self.given = {}
        self.ideas_made = 0
        self.key = arguments.key
        self.ideas = json.load(open(arguments.ideas)) if arguments.ideas else None
        self.candidates = {}
        for entry in arguments.candidate:
            name, _, path = entry.partition("=")
            self.candidates.setdefault(name, []).append(open(path, encoding="utf-8").read())

    def ideas_reply(self, prompt):
        wanted = re.search(r"Propose exactly (\d+)", prompt)
        count = int(wanted.group(1)) if wanted else 1
        if self.ideas is not None:
            fresh = [idea for idea in self.ideas if idea["title"] not in prompt]
            return json.dumps({"ideas": fresh[:count]})
        ideas = []
        with self.lock:
            for _ in range(count):
                number = self.ideas_made
                self.ideas_made += 1
                ideas.append({
                    "title": f"Fake idea {number + 1}", "category": CATEGORIES[number % len(CATEGORIES)],
                    "bottleneck": "none: this is a fake model", "hypothesis": "it comes from a test", "plan": ["step one"],
                    "expected_speedup": 1.1, "risk": "low"})
        return "Here are the ideas.\n```json\n" + json.dumps({"ideas": ideas}, indent=1) + "\n```\n"

    def code_reply(self, prompt):
        found = re.search(r"^Problem: (\S+)", prompt, re.M)
        name = found.group(1) if found and found.group(1) in self.candidates else "*"
        files = self.candidates.get(name)
        if not files:
            return "I have no file for this problem."
        with self.lock:
            number = self.given.get(name, 0)
            self.given[name] = number + 1
        return "The candidate:\n\n```cuda\n" + files[number % len(files)] + "\n```\nDone."

    def text(self, action, prompt):
        if "repeat_bytes" in action:
            return "x" * action["repeat_bytes"]
        reply = action.get("reply")
        if reply == "@ideas" or (reply is None and re.search(r"Propose exactly \d+", prompt)):
            return self.ideas_reply(prompt)
        if reply is None or reply == "@code":
            return self.code_reply(prompt)
        return reply


class Handler(RecordingHandler):
    def scenario(self):
        parts = self.path.strip("/").split("/")
        return parts[0] if len(parts) > (2 if parts[-1] == "embeddings" else 3) else ""

    def respond(self, record):
        if self.command == "GET":
            return self.answer(404, {}, b"{}")
        if self.state.key and self.headers.get("Authorization") != "Bearer " + self.state.key:
            shown = (self.headers.get("Authorization") or "nothing").replace("Bearer ", "")
            error = {"error": {"message": "Incorrect API key provided: " + shown, "type": "invalid_request_error",
                               "code": "invalid_api_key"}}
            return self.answer(401, {"Content-Type": "application/json"}, json.dumps(error).encode())
        return self.act(self.state.action(record["scenario"]), record)

    def act(self, action, record):
        self.wait(action.get("delay_s", 0))
        if action.get("close"):
            return self.cut()
        headers = dict(action.get("headers", {}))
        if "content_length" in action:
            headers["Content-Length"] = str(action["content_length"])
        if "status" in action or "body" in action:
            body = action.get("body", "")
            body = body if isinstance(body, str) else json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
            self.answer(action.get("status", 200), headers, body.encode())
            if "content_length" in action:
                self.cut()
            return
        if record["path"].endswith("/embeddings"):
            vectors = action.get("vectors", {})
            data = [{"object": "embedding", "index": index, "embedding": vectors.get(text, [1, len(text)])}
                    for index, text in enumerate(record["body"]["input"])]
            return self.answer(200, {"Content-Type": "application/json"},
                               json.dumps({"data": data[::-1], "model": record["body"]["model"]}).encode())
        prompt = "\n".join(str(message.get("content", "")) for message in record["body"].get("messages", []))
        text = self.state.text(action, prompt)
        usage = action.get("usage", {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4,
                                     "total_tokens": (len(prompt) + len(text)) // 4})
        if action.get("no_stream") or not record["body"].get("stream"):
            self.whole(action, headers, text, usage)
        else:
            self.stream(action, headers, text, usage)

    def whole(self, action, headers, text, usage):
        message = {"role": "assistant", "content": text}
        if "reasoning" in action:
            message[action.get("reasoning_key", "reasoning_content")] = action["reasoning"]
        body = json.dumps({"choices": [{"index": 0, "finish_reason": action.get("finish_reason", "stop"),
                                        "message": message}], "usage": usage}).encode()
        headers.setdefault("Content-Type", "application/json")
        if action.get("gzip"):
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        self.answer(200, headers, body)
        if "content_length" in action:
            self.cut()

    def events(self, action, text, usage):
        base = {"id": "fake", "object": "chat.completion.chunk", "model": "fake"}
        size = action.get("chunk", 40)

        def delta(piece, reason=None):
            return {**base, "choices": [{"index": 0, "delta": piece, "finish_reason": reason}]}

        yield delta({"role": "assistant", "content": ""})
        if "reasoning" in action:
            for at in range(0, len(action["reasoning"]), size):
                yield delta({action.get("reasoning_key", "reasoning_content"): action["reasoning"][at:at + size]})
        for at in range(0, len(text), size):
            yield delta({"content": text[at:at + size]})
        if action.get("finish_reason", "stop") is not None:
            yield delta({}, action.get("finish_reason", "stop"))
        if usage:
            yield {**base, "choices": [], "usage": usage}

    def stream(self, action, headers, text, usage):
        end = "\r\n" if action.get("crlf") else "\n"
        self.send_response(200)
        headers.setdefault("Content-Type", "text/event-stream; charset=utf-8")
        if action.get("gzip"):
            headers["Content-Encoding"] = "gzip"
        for name, value in headers.items():
            self.send_header(name, value)
        chunked = "Content-Length" not in headers
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        self.wait(action.get("stall_s", 0))

        def send(data):
            pieces = [data]
            if "split" in action:
                pieces = [data[at:at + action["split"]] for at in range(0, len(data), action["split"])]
            for piece in pieces:
                if chunked:
                    piece = b"%x\r\n%s\r\n" % (len(piece), piece)
                self.wfile.write(piece)
                self.wfile.flush()

        count = 0
        for event in self.events(action, text, usage):
            if count == action.get("stall_after"):
                self.wait(action.get("stall_mid_s", 60))
            if count == action.get("cut_after"):
                return self.cut()
            if count == action.get("malformed"):
                send(("data: {\"choices\": [{" + end + end).encode())
            if count == action.get("error_event"):
                send(("data: " + json.dumps({"error": {"message": "the fake model broke", "code": 500}}) + end + end).encode())
            if action.get("comments"):
                send((": keep-alive" + end).encode())
            send(("data: " + json.dumps(event) + end + end).encode())
            self.wait(action.get("slow_s", 0))
            count += 1
        if not action.get("no_done"):
            send(("data: [DONE]" + end + end).encode())
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.cut()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script")
    parser.add_argument("--candidate", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--ideas")
    parser.add_argument("--key")
    parser.add_argument("--certificate", help="a file with a certificate and its key: over TLS, and nothing else")
    arguments = parser.parse_args()
    Handler.state = State(arguments)
    serve(Handler, arguments.port_file, arguments.port, arguments.certificate)


if __name__ == "__main__":
    main()
