"""Questions of docs/operations.md that metrics answer, asked after a search and a batch."""
import re
import time

import dashboard_files as files
import report_beside_dashboards as beside
from monitored_cluster import Cluster
from trees import all_candidates, outcome


class QuestionChecks:
    def check_questions(self, cluster, searches, begin):
        """docs/operations.md, "Five questions without a log": panels that are there, expressions that answer rightly."""
        questions = self.questions()
        boards = {dashboard["title"]: {beside.panel_name(panel["title"]) for panel in files.panels(dashboard)}
                  for dashboard in files.load().values()}
        for question, (panels, _) in questions.items():
            self.assertTrue(panels, question)
            for board, names in panels.items():
                self.assertLessEqual(set(names), boards[f"warpsmith / {board}"], question)

        def ask(question):
            return [cluster.prometheus.instant(expression) for expression in questions[question][1]]

        trees = [cluster.json("tree", one) for one in searches]
        candidates = [c for tree in trees if "ideas" in tree for c in all_candidates(tree)]
        (improvements,), (since,) = ask("Is it improving?")
        # A best that is measured again may stop being one, or become one; but each search has had one.
        solved = [tree for tree in trees if tree["search"].get("best_candidate_id")]
        self.assertEqual(len(trees) - 1, len(solved), "all but the one that fails")
        self.assertGreaterEqual(improvements[1], len(solved))
        counted = cluster.prometheus.instant("sum(warpsmith_speedup_ratio_count)")
        self.assertEqual(counted[0][1], improvements[1])
        self.assertTrue(0 < since[1] < time.time() - begin, since)
        (spent,), (seconds,) = ask("What does it cost?")
        for figure, name in ((spent, "usd"), (seconds, "gpu_seconds")):
            self.assertAlmostEqual(sum(tree["search"]["usage"].get(name, 0) for tree in trees), figure[1], 6)
        (failed,) = ask("Why did candidates fail?")
        wrong = [outcome(c).removeprefix("OUTCOME_").lower() if c["state"] == "done" else "rejected"
                 for c in candidates if outcome(c) != "OUTCOME_OK"]
        self.assertTrue(wrong)
        self.assertEqual({name: wrong.count(name) for name in wrong},
                         {labels["outcome"]: int(count) for labels, count in failed})
        self.assertEqual([[]], ask("Does anything stand still?"))
        waited = cluster.prometheus.over_time(questions["Does anything stand still?"][1][0], begin, time.time())
        self.assertTrue(waited, "tasks waited while the search ran")
        self.assertEqual([[]], ask("Which GPU is ill?"))
        cluster.start_ill_worker("ill-0")
        Cluster.wait(lambda: ask("Which GPU is ill?") != [[]], "what Prometheus knows of the ill device", 30)
        (((labels, count),),) = ask("Which GPU is ill?")
        self.assertEqual(({"node": "node-of-ill-0", "state": "wedged"}, 1), (labels, count))

    @staticmethod
    def questions():
        """Panels by dashboard and expressions, by question."""
        with open(files.SOURCE / "docs" / "operations.md", encoding="utf-8") as text:
            section = text.read().split("\n## Five questions without a log\n")[1].split("\n## ")[0]
        found = {}
        for part in section.split("\n### ")[1:]:
            question, text = part.split("\n", 1)
            panels = {board: re.findall(r'"([^"]+)"', names)
                      for board, names in re.findall(r'\*([A-Z][\w ]+)\*: ((?:"[^"]+"(?:, )?)+)', text)}
            found[question] = panels, [line.strip() for line in text.splitlines() if line.startswith("    ")]
        return found
