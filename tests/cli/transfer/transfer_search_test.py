"""A real search on the emulated device, exported in every format, and its kernels taken into another cluster's bank."""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(SOURCE, "tests", "integration"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cluster import Cluster, problem  # noqa: E402

import stand_in  # noqa: E402

HAND_MADE = os.path.join(SOURCE, "tests/corpus/honest/relu_repeat_views.cu")
WRONG = """/* warpsmith-plan
{"version": 1, "steps": [{"memset": "output", "value": 0}]} */
"""


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Transfer(unittest.TestCase):
    def search(self, cluster):
        search_id = cluster.submit("relu", "--rounds", "1", "--preset", "quick")
        search = cluster.wait_for_end(search_id, 200)
        self.assertEqual(search["state"], "SEARCH_STATE_DONE", search.get("error"))
        self.folder = cluster.folder
        return search_id, search

    def test_a_search_goes_out_in_every_format(self):
        with Cluster(workers=1) as cluster:
            search_id, search = self.search(cluster)
            self.check_kernels(cluster, search_id, search)
            self.check_rows(cluster, search_id, cluster.json("tree", search_id))
            self.check_errors(cluster, search_id)
            self.assertTrue(cluster.json("bank", "list")["kernels"])
            # Back into the bank that it comes from: nothing changes.
            again = cluster.json("import", self.folder + "/kernelbench")
            self.assertEqual((1, 0, 1), (again["read"], again["queued"], again["already_banked"]))

    def test_kernels_come_in_after_they_were_verified(self):
        with Cluster(workers=1) as cluster:
            search_id, _ = self.search(cluster)
            cluster.json("export", search_id, "--format", "kernelbench", "-o", self.folder + "/kernelbench")
            self.check_hand_made(cluster)
            self.check_another_cluster(cluster)

    def check_kernels(self, cluster, search_id, search):
        for form, pattern in (("kernelbench", "relu_kernel.py"), ("pytorch", "relu.py"), ("cu", "relu.cu")):
            told = cluster.json("export", search_id, "--format", form, "-o", f"{self.folder}/{form}")
            self.assertEqual((1, 0), (told["written"], told["not_written"]), told)
            self.assertTrue(os.path.exists(f"{self.folder}/{form}/{pattern}"))
            self.assertTrue(os.path.exists(f"{self.folder}/{form}/kernels.bank"))
            self.assertEqual([], glob.glob(f"{self.folder}/{form}*.partial"))
            with open(f"{self.folder}/{form}/{pattern}", encoding="utf-8") as text:
                self.assertNotRegex(text.read(), r"/tmp/|/home/|/root/")
        with open(f"{self.folder}/kernelbench/eval_results.json", encoding="utf-8") as text:
            result = json.load(text)["relu"][0]
        self.assertTrue(result["compiled"] and result["correctness"])
        passed, trials = re.match(r"\((\d+) / (\d+)\)$", result["metadata"]["correctness_trials"]).groups()
        self.assertEqual(passed, trials)
        self.assertGreater(int(trials), 4)
        best = cluster.json("show", search["best_candidate_id"])["evaluation"]
        self.assertAlmostEqual(best["timing"]["median_ms"], result["metadata"]["warpsmith"]["median_ms"], places=9)
        self.assertGreater(result["runtime"], 0)
        with open(f"{self.folder}/kernelbench/fast_p.json", encoding="utf-8") as text:
            fast = json.load(text)
        self.assertEqual((1, 1, True), (fast["problems"], fast["correct"], fast["emulated"]))
        self.assertEqual(1.0 if best["ratio_to_eager"] > 1 else 0.0, fast["fast_p"]["eager"]["1"])
        # The file's module runs, by the stand-in for a GPU.
        check = subprocess.run(["/usr/bin/python3", "-c", RUN, self.folder + "/kernelbench/relu_kernel.py",
                                os.path.dirname(os.path.abspath(stand_in.__file__)), problem("relu")],
                               capture_output=True, text=True)
        self.assertEqual("launched", check.stdout.strip().rpartition("\n")[2], check.stderr)

    def check_rows(self, cluster, search_id, tree):
        correct = [candidate for idea in tree["ideas"] for candidate in idea.get("candidates", [])
                   if candidate.get("evaluation", {}).get("outcome") == "OUTCOME_OK"
                   and candidate["evaluation"].get("reason") != "screened" and not candidate.get("duplicate_of")]
        rows = {}
        for form in ("sft", "preference", "rl", "archive"):
            path = f"{self.folder}/{form}.jsonl"
            done = cluster.cli("export", search_id, "--format", form, "-o", path, "--json", check=False)
            told = json.loads(done.stdout)
            rows[form] = rows_of(path)
            self.assertEqual(told["rows"], len(rows[form]))
            self.assertEqual(0 if rows[form] else 3, done.returncode)
        exported = {row["meta"]["candidate_id"] for row in rows["sft"]}
        self.assertEqual({candidate["id"] for candidate in correct}, exported)
        self.assertTrue(rows["sft"] and rows["rl"] and rows["archive"])
        for row in rows["sft"] + rows["preference"] + rows["rl"] + rows["archive"]:
            meta = row["meta"]
            self.assertEqual("catalog", meta["model"])
            self.assertTrue(meta["emulated"])
            for key in ("gpu", "harness_rev", "judge_rev", "pytorch", "prompt_version", "problem_sha256"):
                self.assertTrue(meta[key] or key == "prompt_version", key)
            self.assertIn("driver", meta)
            self.assertNotRegex(json.dumps(row), r"/tmp/|/home/|/root/")
        self.assertEqual(1, len({row["split"] for form in rows.values() for row in form}))
        for row in rows["preference"]:
            self.assertEqual(row["meta"]["idea_id"], row["meta"]["rejected"]["idea_id"])
            self.assertEqual(row["meta"]["parent_id"], row["meta"]["rejected"]["parent_id"])
            if row["meta"]["reason"] == "faster":
                self.assertGreaterEqual(row["meta"]["ratio"], 1.2)
        returns = {row["turn_id"]: row for row in rows["rl"]}
        for row in rows["rl"]:
            parent = returns.get(row["parent_turn_id"])
            if parent:
                self.assertGreaterEqual(parent["return"] + 1e-9, parent["reward"] + 0.4 * row["return"])
        held = cluster.cli("export", search_id, "--format", "sft", "-o", self.folder + "/held.jsonl", "--hold-out",
                           "relu", check=False)
        self.assertEqual((3, "0 rows"), (held.returncode, held.stdout[:6]))

    def check_errors(self, cluster, search_id):
        for arguments, status, text in (
                ((search_id, "--format", "kernelbench", "-o", self.folder + "/kernelbench"), 2, "no empty folder"),
                (("abcdef0123", "--format", "cu", "-o", self.folder + "/x"), 3, "no search and no batch"),
                (("bank", "--format", "sft", "-o", self.folder + "/x.jsonl"), 2, "single kernels"),
                (("bank", "--format", "cu", "-o", self.folder + "/y", "--problem", "nothing"), 3, "no such kernel")):
            done = cluster.cli("export", *arguments, check=False)
            self.assertEqual(status, done.returncode, done.stderr)
            self.assertIn(text, done.stderr)
        self.assertEqual([], glob.glob(self.folder + "/x*"))
        told = cluster.json("export", "bank", "--format", "kernelbench", "-o", self.folder + "/bank")
        self.assertEqual(1, told["written"])

    def check_hand_made(self, cluster):
        with open(self.folder + "/wrong.cu", "w", encoding="utf-8") as out:
            out.write(WRONG)
        bad = cluster.cli("import", self.folder + "/wrong.cu", "--module", problem("relu"), "--wait", check=False)
        self.assertEqual(1, bad.returncode, bad.stdout + bad.stderr)
        self.assertIn("failed", bad.stdout)
        good = cluster.cli("import", HAND_MADE, "--module", problem("relu"), "--wait", "--json")
        self.assertEqual(["admitted"], [one["verdict"] for one in json.loads(good.stdout)["verifications"]])

    def check_another_cluster(self, first):
        exported = f"{first.folder}/kernelbench/kernels.bank"
        with Cluster(workers=1) as second:
            told = second.cli("import", exported, "--wait", "--json")
            self.assertEqual(["admitted"], [one["verdict"] for one in json.loads(told.stdout)["verifications"]])
            self.assertEqual(1, len(second.json("bank", "list")["kernels"]))


RUN = """
import sys, torch
sys.path.insert(0, sys.argv[2])
import stand_in
context = {}
exec(open(sys.argv[3]).read(), context)
exec(open(sys.argv[1]).read(), context)
context["_WarpsmithCuda"] = stand_in.StandIn
model = context["ModelNew"](*context["get_init_inputs"]())
inputs = context["get_inputs"]()
output = model(*inputs)
assert output.shape == inputs[0].shape
log = next(iter(context["_WarpsmithDevice"].made.values())).cuda.log
print("launched" if log and log[0][0] == "kernel" else log)
"""

if __name__ == "__main__":
    os.chdir("/")
    unittest.main(verbosity=2)
