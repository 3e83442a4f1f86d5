"""Takes in every file of tests/problems/forms through an oracle process of its own, and holds what it publishes against
the manifest; and the table of docs/kernelbench.md against the manifest and the shapes of KernelBench."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(SOURCE, "tests", "gpu", "kernelbench"))

import coverage_table  # noqa: E402
import expectations  # noqa: E402
import intake_process  # noqa: E402

FORMS = os.path.join(SOURCE, "tests", "problems", "forms")
AT_ONCE = 2


def _jobs(names, **settings):
    return intake_process.jobs_of([os.path.join(FORMS, name) for name in names], settings)


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.manifest = expectations.load(FORMS)
        cls.pytorch = intake_process.pytorch_version()

    def check(self, names, eval_mode=False):
        settings = {"eval_mode": True} if eval_mode else {}
        seen = set()
        for taken in intake_process.take_in_all(_jobs(names, **settings), at_once=AT_ONCE):
            file = taken.job.name + ".py"
            seen.add(file)
            with self.subTest(file):
                expected = expectations.expected_for(self.manifest[file], self.pytorch, False, eval_mode)
                wrong = expectations.differences(expected, taken.reply, self.pytorch < (2, 0))
                self.assertEqual(wrong, [], f"{file}: " + "; ".join(wrong))
                if eval_mode and not taken.reply.get("error"):
                    self.assertFalse(taken.reply["signature"]["training_mode"])
                elif not taken.reply.get("error"):
                    self.assertTrue(taken.reply["signature"]["training_mode"])
        self.assertEqual(seen, set(names))

    def test_every_file_is_in_the_manifest(self):
        files = {name for name in os.listdir(FORMS) if name.endswith(".py")}
        self.assertEqual(files, set(self.manifest))

    def test_all_forms(self):
        self.check(sorted(self.manifest))

    def test_eval_mode(self):
        names = sorted(name for name, entry in self.manifest.items() if "eval_mode" in entry)
        self.assertGreater(len(names), 3)
        self.check(names, eval_mode=True)

    def test_a_wrong_expectation_is_told(self):
        job, = _jobs(["conv2d.py"])
        reply = next(intake_process.take_in_all([job])).reply
        right = self.manifest["conv2d.py"]
        self.assertEqual(expectations.differences(right, reply, True), [])
        for field, value in (("family", "conv3d"), ("tensors", {"input": 1}), ("outputs", {}), ("mutated", ["x"]),
                             ("flops", "7*11"), ("bytes", "1"), ("degenerate", True), ("trivial_passes", ["zeros"]),
                             ("distributions", ["nonsense"]), ("strides", {"x": [1]}), ("error_kind", "forward")):
            self.assertNotEqual(expectations.differences({**right, field: value}, reply, True), [], field)


class Processes(unittest.TestCase):
    """What one file does harms no other."""

    def job(self, name, forward, before=""):
        source = ("import os\nimport signal\nimport time\nimport torch\n" + before +
                  "\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
                  f"        {forward}\n        return x * 2\n"
                  "\ndef get_inputs():\n    return [torch.rand(8)]\n\ndef get_init_inputs():\n    return []\n")
        return intake_process.Job(name, name, source, {})

    def test_crash_hang_and_vandal(self):
        jobs = [self.job("crash", "os.kill(os.getpid(), signal.SIGSEGV)"), self.job("leaves", "os._exit(3)"),
                self.job("hang", "time.sleep(100)"), self.job("vandal", "pass", "torch.nn.Linear = None\n"),
                self.job("good", "torch.nn.Linear(8, 8)(x)")]
        replies = {taken.job.name: taken.reply for taken in intake_process.take_in_all(jobs, deadline=8.0)}
        self.assertEqual(replies["crash"]["kind"], "crash")
        self.assertIn("forward ended the process (signal 11)", replies["crash"]["message"])
        self.assertIn("status 3", replies["leaves"]["message"])
        self.assertEqual(replies["hang"]["kind"], "timeout")
        self.assertIn("forward", replies["hang"]["message"])
        self.assertTrue(replies["vandal"]["ok"])
        self.assertTrue(replies["good"]["ok"])

    def test_a_long_source_passes(self):
        job = self.job("long", "pass", "# " + "x" * (300 << 10) + "\n")
        self.assertTrue(next(intake_process.take_in_all([job])).reply["ok"])


class Table(unittest.TestCase):
    """docs/kernelbench.md says of each of the 250 problems what becomes of it."""

    def test_the_table_is_whole(self):
        counts, wrong = coverage_table.check()
        self.assertEqual(wrong, [])
        self.assertEqual([sum(counts[level].values()) for level in (1, 2, 3)], [100, 100, 50])

    def test_a_hole_is_seen(self):
        with open(coverage_table.DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernelbench.md")
            for old, new in (("95", "94"), ("`cross_entropy`", "`no_such_file`")):
                changed = text.replace(old, new)
                self.assertNotEqual(changed, text)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(changed)
                self.assertNotEqual(coverage_table.check(path)[1], [])


if __name__ == "__main__":
    unittest.main()
