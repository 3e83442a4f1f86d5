"""The process and its JSON lines."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import support


class Protocol(unittest.TestCase):
    def start(self, *arguments):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": support.PACKAGE, "OMP_NUM_THREADS": "1",
                       "PYTHONDONTWRITEBYTECODE": "1", "HOME": folder.name, "TMPDIR": folder.name}
        process = subprocess.Popen([sys.executable, "-m", "warpsmith_oracle", *arguments], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env=environment)

        def end():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()
        self.addCleanup(end)
        return process

    def call(self, process, request):
        process.stdin.write((request if isinstance(request, str) else json.dumps(request)) + "\n")
        process.stdin.flush()
        stages = []
        while True:
            reply = json.loads(process.stdout.readline())
            if "progress" not in reply:
                return reply, stages
            stages.append(reply["progress"])

    def test_prints_of_a_problem_stay_out_of_the_channel(self):
        source = support.source_of("own_seed") + (
            "\nimport os\nprint('{\"ok\": true}', flush=True)\nos.write(1, b'noise\\n')\nread = open(0).read()\n")
        process = self.start()
        reply, stages = self.call(process, {"command": "intake", "name": "noisy", "source": source, "settings": {},
                                            "harness_revision": "t"})
        self.assertIn("signature", reply)
        self.assertEqual(stages[:3], ["import", "no_model", "inputs"])

    def test_wrong_requests_are_answered(self):
        process = self.start()
        for request in ("not json", {"command": "nonsense"}, {"command": "judge", "slot": 0}, {"no": "command"}, "[]"):
            reply, _ = self.call(process, request)
            self.assertEqual((reply["error"], reply["kind"]), (True, "request"), reply)
        reply, _ = self.call(process, {"command": "judge", "slot": 0, "accepted": [], "launch": "trial"})
        self.assertEqual(reply["kind"], "order")
        reply, _ = self.call(process, {"command": "hello"})
        self.assertTrue(reply["ok"])

    def test_quit_and_end_of_input_end_it(self):
        process = self.start()
        process.stdin.write('{"command": "quit"}\n')
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=60), 0)
        other = self.start()
        other.stdin.close()
        self.assertEqual(other.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
