"""Headless Chromium, driven over a pair of pipes by its own protocol."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    def __init__(self):
        program = next((found for found in map(shutil.which, PROGRAMS) if found), None)
        if program is None:
            raise AssertionError("Chromium is missing: apt-get install chromium (./dev bootstrap does it)")
        self.profile = tempfile.mkdtemp(prefix="ws-chromium-", dir="/tmp")
        self.errors = open(self.profile + "/stderr", "wb")
        from_us, self.out = os.pipe()
        self.back, to_us = os.pipe()
        # The protocol is spoken on descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{from_us} 4>&{to_us}', "bash", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-sync",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--mute-audio",
             f"--user-data-dir={self.profile}/data", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
            env=dict(os.environ, HOME=self.profile), start_new_session=True)
        os.close(from_us)
        os.close(to_us)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", patience=10)
            self.process.wait(10)
        except Exception:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.out)
        os.close(self.back)
        self.errors.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
            data = os.read(self.back, 1 << 20) if ready else b""
            if not data:
                self.errors.flush()
                with open(self.profile + "/stderr", errors="replace") as text:
                    raise AssertionError("Chromium does not answer:\n" + text.read()[-3000:])
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, patience=120, **parameters):
        self.number += 1
        number = self.number
        request = {"id": number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        end = time.monotonic() + patience
        while True:
            message = self.receive(end)
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method, patience=120):
        end = time.monotonic() + patience
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event.get("method") == method:
                    return event
            seen = len(self.events)
            self.events.append(self.receive(end))

    def open(self, path, width, height, dark=False, scripts=True):
        """Loads a file at a width; a narrow one as a phone shows it."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media="screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url="file://" + path)
        self.wait_for("Page.loadEventFired")

    def complaints(self):
        """What the console would show as an error or a warning, and every address that was asked for."""
        found = []
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + json.dumps(about["exceptionDetails"])[:500])
            elif method == "Runtime.consoleAPICalled":
                found.append("console: " + json.dumps(about["args"])[:500])
            elif method == "Log.entryAdded":
                found.append(f"log: {about['entry']['level']}: {about['entry']['text']}"[:500])
            elif method == "Page.javascriptDialogOpening":
                found.append("dialog: " + about["message"])
        return found

    def requests(self):
        """Addresses that were asked for, but for those that the page's policy stopped."""
        stopped = {event["params"]["requestId"] for event in self.events
                   if event.get("method") == "Network.loadingFailed" and event["params"].get("blockedReason") == "csp"}
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent" and event["params"]["requestId"] not in stopped]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def picture(self, path, whole=False):
        options = {"captureBeyondViewport": True} if whole else {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 9000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
