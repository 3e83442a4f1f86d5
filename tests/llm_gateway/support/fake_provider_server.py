#!/usr/bin/env python3
"""A FAKE of three providers' APIs for tests, over real HTTP: OpenAI's Responses, Anthropic's Messages, Gemini's
streamGenerateContent. It is no model: it says what a scenario tells it to say. Standard library only.

    fake_provider_server.py --port-file PORT --script SCENARIOS.json [--certificate FILE.pem]

The format follows from the path: /SCENARIO/v1/responses[/ID[/cancel]], /SCENARIO/v1/messages,
/SCENARIO/v1beta/models/MODEL:streamGenerateContent. SCENARIOS.json: {"SCENARIO": [ACTION, ...]}. Request n of a scenario,
whatever its method, gets action n; the last one repeats. An action is an object with any of

    text, thinking  what is answered (text: "" by default); refusal: text of a refusal (Responses)
    finish          the provider's own word for the end; default completed, end_turn, STOP. null leaves the end out
    reason          incomplete_details.reason (Responses); error: the error of a failed response
    usage           the provider's own object, sent where that provider sends it
    events          these events instead of generated ones
    insert          {"after": n, "event": {...}}: one event more, after n others
    whole           one JSON object, not a stream; status_now: the status of a polled response
    status, headers, body   another status, more headers, a body as it stands
    delay_s         wait before the head of the answer
    stall_after     after so many events wait stall_s (default 60)
    cut_after       after so many events close the connection
    linger_s        keep the connection open for so long after the last event
    id              of the response; default resp_1
    chunk           characters of text an event (default 40)

GET /_requests gives what was received: [{"scenario", "method", "path", "headers", "body", "closed_early"}].
"""

import argparse
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from fake_serving import RecordingHandler, Scenarios, serve  # noqa: E402


def pieces(text, action):
    size = action.get("chunk", 40)
    return [text[at:at + size] for at in range(0, len(text), size)]


def response_object(action, status):
    output = []
    if action.get("thinking"):
        output.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": action["thinking"]}]})
    content = []
    if action.get("text"):
        content.append({"type": "output_text", "text": action["text"]})
    if action.get("refusal"):
        content.append({"type": "refusal", "refusal": action["refusal"]})
    if status in ("completed", "incomplete"):
        output.append({"type": "message", "role": "assistant", "content": content})
    return {"id": action.get("id", "resp_1"), "object": "response", "status": status, "error": action.get("error"),
            "incomplete_details": {"reason": action["reason"]} if "reason" in action else None,
            "output": output, "usage": action.get("usage")}


def responses_events(action):
    begun = {"id": action.get("id", "resp_1"), "object": "response", "status": "in_progress", "error": None, "output": []}
    events = [{"type": "response.created", "response": dict(begun, status="queued")},
              {"type": "response.in_progress", "response": begun}]
    for piece in pieces(action.get("thinking", ""), action):
        events.append({"type": "response.reasoning_summary_text.delta", "delta": piece})
    events.append({"type": "response.output_item.added", "item": {"type": "message", "content": []}})
    for piece in pieces(action.get("text", ""), action):
        events.append({"type": "response.output_text.delta", "delta": piece})
    for piece in pieces(action.get("refusal", ""), action):
        events.append({"type": "response.refusal.delta", "delta": piece})
    status = action.get("finish", "completed")
    if status:
        events.append({"type": "response." + status, "response": response_object(action, status)})
    return [dict(event, sequence_number=number) for number, event in enumerate(events)]


def anthropic_events(action):
    usage = action.get("usage", {})
    events = [{"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
                                                    "stop_reason": None, "usage": dict(usage, output_tokens=1)}},
              {"type": "ping"}]
    if action.get("thinking"):
        events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}})
        for piece in pieces(action["thinking"], action):
            events.append({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": piece}})
        events.append({"type": "content_block_delta", "index": 0,
                       "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}})
        events.append({"type": "content_block_stop", "index": 0})
        events.append({"type": "content_block_start", "index": 1,
                       "content_block": {"type": "redacted_thinking", "data": "aGlkZGVu"}})
        events.append({"type": "content_block_stop", "index": 1})
    events.append({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}})
    for piece in pieces(action.get("text", ""), action):
        events.append({"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": piece}})
    events.append({"type": "content_block_stop", "index": 2})
    finish = action.get("finish", "end_turn")
    if finish:
        late = {key: usage[key] for key in ("output_tokens", "output_tokens_details") if key in usage}
        events.append({"type": "message_delta", "delta": {"stop_reason": finish}, "usage": late})
        events.append({"type": "message_stop"})
    return events


def gemini_events(action):
    def event(part, **more):
        return {"candidates": [dict({"content": {"role": "model", "parts": [part]}, "index": 0}, **more)],
                "usageMetadata": {"promptTokenCount": 1}}

    events = [event({"text": piece, "thought": True}) for piece in pieces(action.get("thinking", ""), action)]
    events += [event({"text": piece}) for piece in pieces(action.get("text", ""), action)]
    finish = action.get("finish", "STOP")
    if finish:
        last = event({"text": ""}, finishReason=finish, finishMessage=action.get("reason", ""))
        last["usageMetadata"] = action.get("usage", {})
        events.append(last)
    return events


class Handler(RecordingHandler):
    def respond(self, record):
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        self.act(self.state.action(parts[0]), parts, urllib.parse.parse_qs(url.query))

    def answer_json(self, action, value, status=200):
        headers = dict({"Content-Type": "application/json"}, **action.get("headers", {}))
        self.answer(status, headers, (value if isinstance(value, str) else json.dumps(value)).encode())

    def act(self, action, parts, query):
        self.wait(action.get("delay_s", 0))
        if "status" in action or "body" in action:
            return self.answer_json(action, action.get("body", ""), action.get("status", 200))
        if "responses" in parts:
            if parts[-1] == "cancel":
                return self.answer_json(action, response_object(action, "cancelled"))
            if self.command == "GET" and "stream" not in query:
                return self.answer_json(action, response_object(action, action.get("status_now", "completed")))
            if action.get("whole"):
                return self.answer_json(action, response_object(action, action.get("finish", "completed")))
            after = int(query.get("starting_after", ["-1"])[0])
            events = action.get("events") or responses_events(action)
            return self.stream(action, [event for event in events if event.get("sequence_number", 0) > after])
        if parts[-1] == "messages":
            if action.get("whole"):
                return self.answer_json(action, {
                    "type": "message", "content": [{"type": "text", "text": action.get("text", "")}],
                    "stop_reason": action.get("finish", "end_turn"), "usage": action.get("usage", {})})
            return self.stream(action, action.get("events") or anthropic_events(action))
        if parts[-1].endswith(":streamGenerateContent"):
            events = action.get("events") or gemini_events(action)
            return self.answer_json(action, events) if action.get("whole") else self.stream(action, events)
        return self.answer_json(action, {"error": {"message": "no such path"}}, 404)

    def stream(self, action, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in action.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

        def send(event):
            name = "event: " + event["type"] + "\n" if isinstance(event, dict) and "type" in event else ""
            data = (name + "data: " + json.dumps(event) + "\n\n").encode()
            self.send_chunk(data)

        insert = action.get("insert", {})
        for count, event in enumerate(events + [None]):
            if count == insert.get("after"):
                send(insert["event"])
            if count == action.get("stall_after"):
                self.wait(action.get("stall_s", 60))
            if count == action.get("cut_after"):
                return self.cut()
            if event is not None:
                send(event)
        self.wait(action.get("linger_s", 0))
        self.wfile.write(b"0\r\n\r\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--certificate", help="a file with a certificate and its key: over TLS, and nothing else")
    arguments = parser.parse_args()
    Handler.state = Scenarios(arguments.script)
    serve(Handler, arguments.port_file, certificate=arguments.certificate)


if __name__ == "__main__":
    main()
