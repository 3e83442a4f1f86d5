"""Whole searches over real services: by catalog on three problems, and by a model behind a real HTTP server."""
import json
import os
import subprocess
import unittest

from cluster import BIN, Cluster, start_fake_model


def evaluations(tree):
    found = []
    for idea in tree["ideas"]:
        for candidate in idea.get("candidates", []):
            if "evaluation" in candidate:
                found.append(candidate)
    return found


def correct(tree):
    return [c for c in evaluations(tree) if c["evaluation"]["outcome"] == "OUTCOME_OK"]


class CatalogSearch(unittest.TestCase):
    def test_three_problems_get_faster_than_their_first_correct_kernel(self):
        with Cluster(workers=1) as cluster:
            searches = {name: cluster.submit(name, "--rounds", "3", "--preset", "quick", "--parents", "1")
                        for name in ("layer_norm", "softmax", "matmul")}
            for name, search_id in searches.items():
                search = cluster.wait_for_end(search_id, 400)
                tree = cluster.json("tree", search_id)
                right = correct(tree)
                with self.subTest(name):
                    self.assertEqual(search["state"], "SEARCH_STATE_DONE", search.get("error"))
                    self.assertTrue(search["emulated"])
                    self.assertGreaterEqual(len(search["rounds"]), 2)
                    first_round = min(c["round"] for c in right)
                    first = min(c["evaluation"]["timing"]["median_ms"] for c in right if c["round"] == first_round)
                    self.assertLess(search["best_ms"], first)
                    # Every catalog recipe is right: whatever was generated compiled and passed.
                    self.assertEqual([], [c["evaluation"].get("message") for c in evaluations(tree)
                                          if c["evaluation"]["outcome"] != "OUTCOME_OK"])
                    self.assertTrue(tree["best_lineage"])
                    best = cluster.json("show", search["best_candidate_id"])
                    self.assertIn("warpsmith-plan", best["source"])
                    self.assertIn("title", best["idea"])
            self.check_records(cluster)
            self.check_bank(cluster)

    def check_records(self, cluster):
        self.assertEqual("0", cluster.sql("select count(*) from task where state not in ('done', 'cancelled')"))
        self.assertEqual("0", cluster.sql(
            "select count(*) from (select candidate_id, stage from evaluation group by 1, 2 having count(*) > 1) twice"))
        # Decisions are numbered without a gap in each search.
        self.assertEqual("0", cluster.sql(
            "select count(*) from (select search_id, max(seq) - min(seq) + 1 - count(*) gap from decision group by 1) g "
            "where gap <> 0"))

    def check_bank(self, cluster):
        kernels = cluster.json("bank", "list")["kernels"]
        self.assertTrue(kernels)
        self.assertTrue(all(kernel["emulated"] for kernel in kernels))


class ModelSearch(unittest.TestCase):
    """The model is a fake: a local HTTP server that speaks the OpenAI chat format with streaming."""

    def test_search_through_the_chat_format(self):
        config = start_fake_model(self, {"relu": ["relu_plain.cu", "relu_template.cu", "relu_three_dimensions.cu"]})
        with Cluster(workers=1, gateway_config=config, environment={"FAKE_MODEL_KEY": "secret-of-the-test"}) as cluster:
            search_id = cluster.submit("relu", "--rounds", "2", "--preset", "quick", "--parents", "1")
            search = cluster.wait_for_end(search_id, 400)
            self.assertEqual(search["state"], "SEARCH_STATE_DONE", search.get("error"))
            tree = cluster.json("tree", search_id)
            self.assertTrue(correct(tree))
            self.assertGreater(search["usage"]["model_calls"], 3)
            self.assertGreater(int(search["usage"]["output_tokens"]), 0)
            for log in ("gateway", "coordinator"):
                with open(f"{cluster.folder}/{log}.log") as text:
                    self.assertNotIn("secret-of-the-test", text.read())
            self.assertEqual("0", cluster.sql("select count(*) from llm_call where llm_call::text like '%secret-of%'"))


class CommandLine(unittest.TestCase):
    def test_a_problem_that_does_not_import_names_the_file_and_the_line(self):
        with Cluster(workers=1) as cluster:
            bad = cluster.folder + "/broken.py"
            with open(bad, "w") as out:
                out.write("import torch\nimport no_such_module_here\n")
            answer = json.loads(cluster.cli("submit", bad, "--json").stdout)
            search = cluster.wait_for_end(answer["search_id"], 60)
            self.assertEqual(search["state"], "SEARCH_STATE_FAILED")
            self.assertIn("no_such_module_here", search["error"])
            self.assertIn("broken.py", search["error"])
            missing = subprocess.run([BIN + "/warpsmith", "submit", "/nonexistent.py", "--coordinator",
                                      cluster.coordinator_address], capture_output=True, text=True)
            self.assertNotEqual(missing.returncode, 0)
            self.assertIn("/nonexistent.py", missing.stderr)

    def test_injected_kernels_and_ideas_join_the_search(self):
        with Cluster(workers=1) as cluster:
            search_id = cluster.submit("relu", "--rounds", "1", "--preset", "quick")
            Cluster.wait(lambda: cluster.search(search_id)["state"] != "SEARCH_STATE_INTAKE", "the intake")
            kernel = cluster.folder + "/mine.cu"
            with open(kernel, "w") as out:
                out.write(RELU)
            cluster.cli("inject", "kernel", search_id, kernel, "--title", "by hand")
            search = cluster.wait_for_end(search_id, 120)
            self.assertEqual(search["state"], "SEARCH_STATE_DONE", search.get("error"))
            everything = cluster.json("tree", search_id)
            titles = [idea["idea"].get("title") for idea in everything["ideas"]]
            self.assertIn("by hand", titles)


RELU = """/* warpsmith-plan
{"version": 1, "steps": [{"kernel": "relu", "grid": [64], "block": [128],
 "args": ["x", "output", {"i32": 4}]}]} */
extern "C" __global__ void relu(const float* x, float* y, int unused) {}
"""

if __name__ == "__main__":
    os.chdir("/")
    unittest.main(verbosity=2)
