"""Every expression of every dashboard after a real search and a real batch, over real Prometheus and PostgreSQL.

One search and a batch of two problems and one that fails, by a fake model behind real HTTP with made-up prices. Every
SQL and PromQL expression of panels, variables and annotations, expanded as Grafana expands it, must find something.
Those of what cannot happen here (made_up.py) must run, and find something in a copy of the database with made-up rows,
or in a second Prometheus that scrapes made-up series. Figures are held against `warpsmith tree` and `batch show`, and
counted again from them; pages of `warpsmith report` against the panels' answers; the questions of docs/operations.md
are asked. Each process tells a service manager when it is ready. Pictures go to WARPSMITH_PICTURES_DIR.
"""
import math
import os
import re
import sys
import time
import unittest

import dashboard_files as files
from made_up import MADE_UP_ROWS, MADE_UP_SERIES, MadeUpProcess
from monitored_cluster import STEP_SECONDS, Cluster, MonitoredCluster, Prometheus, expand_promql, expand_sql
from question_checks import QuestionChecks
from report_checks import ReportChecks
from trees import against_anchor, all_candidates, done_candidates, eager_ms, number, outcome

sys.path.insert(0, str(files.SOURCE / "tests" / "integration"))
from cluster import problem, start_fake_model  # noqa: E402

FAILS = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        raise RuntimeError("this problem is not to be had")


def get_inputs():
    return [torch.randn(16, 4099)]


def get_init_inputs():
    return []
"""


class Dashboards(ReportChecks, QuestionChecks, unittest.TestCase):
    def test_every_expression_finds_something_and_the_figures_are_right(self):
        # The search gets a candidate that is refused; each problem of the batch has its own, whoever asks first.
        files_given = {
            "relu": [
                "../hostile/one_wrong_element.cu",
                "relu_plain.cu",
                "relu_template.cu",
                "relu_three_dimensions.cu",
                "relu_options.cu",
            ],
            "1_Rectified_slowly": ["relu_plain.cu"],
            "2_Rectified": ["relu_template.cu"],
        }
        config = start_fake_model(self, files_given) + "    price: {input: 2, output: 8}\n"
        made_up = MadeUpProcess()
        self.addCleanup(made_up.stop)
        second = Prometheus({"worker": [made_up.address]})
        self.addCleanup(second.stop)
        begin = time.time()
        with MonitoredCluster(
            workers=1,
            gateway_config=config,
            environment={"FAKE_MODEL_KEY": "key-of-the-test", "WARPSMITH_MAX_USD_PER_DAY": "100"},
        ) as cluster:
            self.check_services(cluster)
            settings = "--rounds 2 --parents 1 --ideas 1 --implementations 2 --repairs -1"
            search_id = cluster.submit("relu", *settings.split())
            batch_id = self.submit_batch(cluster)
            for one in [search_id, *cluster.json("batch", "show", batch_id)["search_ids"]]:
                cluster.wait_for_end(one, 900)
            Cluster.wait(lambda: cluster.json("batch", "show", batch_id)["state"] == "done", "the batch")
            self.wait_for_scrape(cluster)
            end = time.time()
            variables = {"search": search_id, "batch": batch_id, "timed_on": "emulated device"}
            self.check_views(cluster)
            self.check_variables(cluster, variables, begin, end)
            self.check_sql(cluster, variables, begin, end)
            self.check_prometheus(cluster.prometheus, second, begin, end)
            self.check_search(cluster, search_id, begin, end)
            self.check_batch(cluster, batch_id, begin, end)
            self.check_models(cluster, [search_id, *cluster.json("batch", "show", batch_id)["search_ids"]], begin, end)
            self.check_totals(cluster)
            self.check_reports(cluster, search_id, batch_id, begin, end)
            self.check_questions(cluster, [search_id, *cluster.json("batch", "show", batch_id)["search_ids"]], begin)
            self.check_copy(cluster, search_id, batch_id, begin, end)
            for name in ("worker0", "coordinator", "gateway"):
                cluster.stop(name)
                self.assertIn("STOPPING=1", "\n".join(cluster.managers[name].listen()).splitlines(), name)

    def check_services(self, cluster):
        """A service manager hears that each process is ready when its /readyz says so; one that stands by is started."""
        for name, manager in list(cluster.managers.items()):
            Cluster.wait(manager.is_ready, f"the word of {name}")
            self.assertEqual(200, cluster.readiness(name), name)
        standby = cluster.start_standby()
        Cluster.wait(standby.is_ready, "the word of the coordinator that stands by")
        self.assertIn("STATUS=stands by: another one leads", "\n".join(standby.listen()).splitlines())
        self.assertEqual(503, cluster.readiness("standby"))
        cluster.stop("standby")

    def submit_batch(self, cluster):
        folder = cluster.folder + "/problems"
        os.mkdir(folder)
        with open(problem("relu"), encoding="utf-8") as text:
            relu = text.read()
        # PyTorch does the first one's work over and over, so that a kernel is many times as fast; the second at once,
        # many times as fast as a kernel on the emulated device.
        slow = relu.replace(
            "return torch.relu(x)", "for _ in range(1500):\n            x = torch.relu(x)\n        return x"
        )
        for name, content in (("1_Rectified_slowly", slow), ("2_Rectified", relu + "\n"), ("3_Fails", FAILS)):
            with open(f"{folder}/{name}.py", "w", encoding="utf-8") as out:
                out.write(content)
        settings = "--rounds 1 --ideas 1 --implementations 1 --repairs -1 --max-usd 5"
        return cluster.json("batch", "submit", folder, *settings.split())["id"]

    def wait_for_scrape(self, cluster):
        """Until Prometheus has the end of everything, and some scrapes of it."""
        ended = int(cluster.sql("SELECT count(*) FROM search WHERE NOT system AND state IN ('done', 'failed')"))

        def seen():
            found = cluster.prometheus.instant('sum(warpsmith_searches{state=~"done|failed"})')
            return found and found[0][1] == ended

        Cluster.wait(seen, "Prometheus's knowledge of the last search", 30)
        time.sleep(2 * STEP_SECONDS)

    def check_views(self, cluster):
        """Every view that a dashboard reads, and each of its columns, says what it is."""
        statements = [
            statement for dashboard in files.load().values() for _, statement in files.sql_expressions(dashboard)
        ]
        used = {name for statement in statements for name in re.findall(r"\bview_[a-z_]+", statement)}
        explained = cluster.read(
            "SELECT c.relname AS view, bool_and(col_description(c.oid, a.attnum) IS NOT NULL) AND"
            " obj_description(c.oid) IS NOT NULL AS explained FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " AND a.attnum > 0 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v' AND c.relname"
            " LIKE 'view\\_%' GROUP BY c.oid, c.relname"
        )
        self.assertEqual([], [row["view"] for row in explained if row["explained"] != "t"])
        self.assertLessEqual(used, {row["view"] for row in explained})

    def check_variables(self, cluster, variables, begin, end):
        for query, want in (("search_choices", variables["search"]), ("batch_choices", variables["batch"])):
            rows = cluster.read(self.statement(query, variables, begin, end))
            self.assertIn(want, [row["__value"] for row in rows])
        for dashboard in files.load().values():
            for where, query in files.label_queries(dashboard):
                selector, label = query.removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
                values = cluster.prometheus.ask(
                    f"label/{label}/values", **{"match[]": expand_promql(selector, {"job": []})}
                )
                self.assertTrue(values, where)

    def statement(self, name, variables, begin, end):
        return expand_sql(self.queries()[name], begin, end, variables)

    @staticmethod
    def queries():
        sys.path.insert(0, str(files.GRAFANA))
        sys.dont_write_bytecode = True
        from generator.panels import QUERIES

        return QUERIES

    def check_sql(self, cluster, variables, begin, end):
        for dashboard in files.load().values():
            for where, statement in files.sql_expressions(dashboard):
                with self.subTest(where):
                    rows = cluster.read(expand_sql(statement, begin, end, variables))
                    if where not in MADE_UP_ROWS:
                        self.assertTrue(rows, "finds nothing")
                        self.assertTrue(
                            any(value is not None for row in rows for value in row.values()), "finds nulls alone"
                        )

    def check_prometheus(self, prometheus, second, begin, end):
        for dashboard in files.load().values():
            legends = files.legend_labels(dashboard)
            for where, expression in files.prometheus_expressions(dashboard):
                with self.subTest(where):
                    expanded = expand_promql(expression, {"job": [], "instance": [], "node": []})
                    found = prometheus.over_time(expanded, begin, end)
                    if where in MADE_UP_SERIES:
                        found = second.over_time(expanded, begin, time.time())
                    self.assertTrue(found, f"finds nothing: {expanded}")
                    for labels, _ in found:
                        self.assertLessEqual(legends[where], set(labels))

    def check_search(self, cluster, search_id, begin, end):
        """Figures of the Search dashboard, counted again from the tree."""
        tree = cluster.json("tree", search_id)
        variables = {"search": search_id}
        ask = lambda name: cluster.read(self.statement(name, variables, begin, end))  # noqa: E731
        eager = eager_ms(tree)
        rounds = ask("search_rounds")
        funnel = ask("search_funnel_per_round")
        shown = tree["search"]["rounds"]
        self.assertEqual([r["round"] for r in shown], [int(r["round"]) for r in rounds])
        best_so_far = None
        for summary, row, counted in zip(shown, rounds, funnel):
            mine = [c for c in all_candidates(tree) if c["round"] == summary["round"]]
            right = [c for c in mine if outcome(c) == "OUTCOME_OK"]
            self.assertEqual(len([c for c in mine if c["state"] != "rejected"]), int(counted["generated"]))
            self.assertEqual(len(right), int(counted["correct"]))
            self.assertEqual(
                len([i for i in tree["ideas"] if i.get("round") == summary["round"] and i["idea"].get("id")]),
                int(counted["ideas"]),
            )
            for name in ("generated", "compiled", "correct", "faster"):
                self.assertEqual(summary.get(name, 0), int(counted[name]), name)
            if right:
                best = max(right, key=lambda c: against_anchor(c, eager))
                best_so_far = max([best_so_far or best, best], key=lambda c: against_anchor(c, eager))
                self.assertAlmostEqual(summary["round_best_ms"], best["evaluation"]["timing"]["median_ms"], 9)
                self.assertAlmostEqual(100 * best["evaluation"]["ratio_to_eager"], number(row["best of the round"]), 6)
                ratios = sorted(100 * c["evaluation"]["ratio_to_eager"] for c in right)
                middle = (ratios[(len(ratios) - 1) // 2] + ratios[len(ratios) // 2]) / 2
                self.assertAlmostEqual(middle, number(row["median"]), 6)
                self.assertLessEqual(number(row["lower quartile"]), number(row["median"]))
            self.assertAlmostEqual(100 * best_so_far["evaluation"]["ratio_to_eager"], number(row["best so far"]), 6)
            self.assertAlmostEqual(summary["best_ms"], best_so_far["evaluation"]["timing"]["median_ms"], 9)
        search = tree["search"]
        self.assertAlmostEqual(
            100 * search["best_ratio_to_eager"], number(ask("search_best_percent")[0]["best kernel"]), 6
        )
        times = ask("search_times")[0]
        self.assertAlmostEqual(search["best_ms"], number(times["best kernel"]), 9)
        self.assertAlmostEqual(eager, number(times["PyTorch eager"]), 9)
        self.assertEqual(tree["best_lineage"], [row["candidate"] for row in ask("search_lineage")])
        self.assertEqual("done: rounds", ask("search_state")[0]["state"])
        trajectory = ask("search_trajectory")
        self.assertEqual(search["best_candidate_id"], trajectory[-1]["candidate"])
        by_id = {c["id"]: c for c in done_candidates(tree)}
        steps = [against_anchor(by_id[row["candidate"]], eager) for row in trajectory]
        self.assertEqual(sorted(set(steps)), steps, "each is better than all before")
        for row in trajectory:
            self.assertAlmostEqual(
                100 * by_id[row["candidate"]]["evaluation"]["ratio_to_eager"], number(row["% of eager"]), 6
            )
        gains = [100 * (after / before - 1) for before, after in zip(steps, steps[1:])]
        for gain, row in zip([None, *gains], trajectory):
            self.assertEqual(gain is None, row["gain"] is None)
            self.assertAlmostEqual(gain or 0, number(row["gain"]) or 0, 6)
        self.assertEqual(len(trajectory), len(ask("search_best_over_time")))
        wrong = [c for c in done_candidates(tree) if outcome(c) != "OUTCOME_OK"]
        self.assertTrue(wrong, "the fake model hands out a wrong kernel")
        self.assertEqual(len(wrong), sum(int(row["candidates"]) for row in ask("search_failure_classes")))
        self.assertEqual(
            {outcome(c).removeprefix("OUTCOME_").lower() for c in wrong},
            {row["class"] for row in ask("search_failure_classes")},
        )
        categories = ask("search_categories")
        self.assertEqual(
            len([i for i in tree["ideas"] if i.get("candidates")]), sum(int(row["ideas"]) for row in categories)
        )
        usage = search["usage"]
        self.assertGreater(usage["usd"], 0)
        self.assertAlmostEqual(usage["usd"], number(ask("search_spent")[0]["spent"]), 9)
        self.assertAlmostEqual(usage["gpu_seconds"], number(ask("search_device_seconds")[0]["in all"]), 6)
        self.assertAlmostEqual(usage["usd"] / len(trajectory), number(ask("search_spent")[0]["per new best"]), 9)

    def check_batch(self, cluster, batch_id, begin, end):
        """fast_p by its definition, from each problem's tree: of all three problems, the one that fails included."""
        variables = {"batch": batch_id, "timed_on": "emulated device"}
        ask = lambda name, **more: cluster.read(self.statement(name, variables | more, begin, end))  # noqa: E731
        batch = cluster.json("batch", "show", batch_id)
        speedups = []
        for search_id in batch["search_ids"]:
            tree = cluster.json("tree", search_id)
            if tree["search"]["state"] == "SEARCH_STATE_FAILED":
                continue
            right = {c["id"]: c for c in done_candidates(tree) if outcome(c) == "OUTCOME_OK"}
            best = right[tree["search"]["best_candidate_id"]]["evaluation"]
            speedups.append(best["ratio_to_eager"])
        self.assertEqual(2, len(speedups))
        self.assertEqual(1, len([s for s in speedups if s > 2]))
        self.assertEqual(1, len([s for s in speedups if s < 1]))
        counts = ask("batch_problem_counts")[0]
        self.assertEqual(
            ("3", "3", "2", "1"), tuple(counts[name] for name in ("problems", "ended", "solved", "failed"))
        )
        fast = ask("batch_fast")[0]
        for name, p in (("fast_1", 1), ("fast_1.5", 1.5), ("fast_2", 2)):
            self.assertAlmostEqual(len([s for s in speedups if s > p]) / 3, number(fast[name]), 9)
        totals = batch["totals"]
        for name, field in (("fast_1", "fast_1"), ("fast_1.5", "fast_1_5"), ("fast_2", "fast_2")):
            self.assertAlmostEqual(totals.get(field, 0), number(fast[name]), 9)
        curve = {number(row["p"]): number(row["share of all problems"]) for row in ask("batch_fast_curve")}
        self.assertEqual(81, len(curve))
        for p, share in curve.items():
            self.assertAlmostEqual(len([s for s in speedups if s > p]) / 3, share, 9)
        mean = 100 * math.exp(sum(map(math.log, speedups)) / len(speedups))
        self.assertAlmostEqual(mean, number(ask("batch_geometric_mean")[0]["geometric mean"]), 6)
        self.assertAlmostEqual(100 * totals["geometric_mean_ratio"], mean, 6)
        self.assertAlmostEqual(totals["usage"]["usd"], number(ask("batch_cost")[0]["US dollars"]), 9)
        self.assertAlmostEqual(totals["usage"]["gpu_seconds"], number(ask("batch_device_seconds")[0]["seconds"]), 6)
        self.assertEqual(3, len(ask("batch_problems")))
        self.assertEqual(2, len(ask("batch_heat_map")))
        self.assertEqual([], ask("batch_fast", timed_on="GPU"), "nothing here was timed on a GPU")
        self.assertEqual([], ask("batch_fast_curve", timed_on="GPU"))

    def check_models(self, cluster, searches, begin, end):
        trees = [cluster.json("tree", search_id) for search_id in searches]
        trees = [tree for tree in trees if "ideas" in tree]
        candidates = [c for tree in trees for c in all_candidates(tree)]
        rows = cluster.read(self.statement("models_yield", {"timed_on": "emulated device"}, begin, end))
        self.assertEqual({"fake"}, {row["model"] for row in rows})
        self.assertEqual(len(candidates), sum(int(row["candidates asked for"]) for row in rows))
        self.assertEqual(
            len([c for c in candidates if outcome(c) == "OUTCOME_OK"]), sum(int(row["correct"]) for row in rows)
        )
        calls = cluster.read(self.statement("models_calls", {"timed_on": "emulated device"}, begin, end))
        self.assertEqual(
            sum(tree["search"]["usage"]["model_calls"] for tree in trees), sum(int(row["calls"]) for row in calls)
        )
        self.assertAlmostEqual(
            sum(tree["search"]["usage"]["usd"] for tree in trees), sum(number(row["cost"]) for row in calls), 9
        )

    def check_totals(self, cluster):
        """What Prometheus counted is what PostgreSQL holds: of this cluster both have everything."""
        instant = lambda expression: cluster.prometheus.instant(expression)[0][1]  # noqa: E731
        self.assertEqual(
            int(
                cluster.sql(
                    "SELECT count(*) FROM candidate WHERE state IN ('done', 'rejected') AND reject_reason <>"
                    " 'exhausted'"
                )
            ),
            instant("sum(warpsmith_candidates_total)"),
        )
        self.assertEqual(
            int(cluster.sql("SELECT count(*) FROM candidate WHERE outcome = 14")),
            instant('sum(warpsmith_candidates_total{outcome="ok"})'),
        )
        self.assertAlmostEqual(
            float(cluster.sql("SELECT sum(usd) FROM llm_call")), instant("sum(warpsmith_spend_usd_total)"), 6
        )
        self.assertAlmostEqual(
            float(cluster.sql("SELECT sum(usd) FROM llm_call")), instant("sum(warpsmith_llm_cost_usd_total)"), 6
        )
        self.assertEqual(100, instant('max(warpsmith_budget_usd{state="limit"})'))
        self.assertAlmostEqual(
            float(cluster.sql("SELECT sum(gpu_seconds) FROM evaluation")),
            instant("sum(warpsmith_gpu_seconds_total)"),
            6,
        )
        self.assertEqual(1, instant('sum(warpsmith_is_leader{job="coordinator"})'))

    def check_copy(self, cluster, search_id, batch_id, begin, end):
        """In a copy: a task given up, one that waits, and a problem of the batch that was timed on a GPU."""
        cluster.copy_database("copy")
        cluster.write_copy(
            "copy",
            f"""
            INSERT INTO task (kind, dedupe_key, search_id, deadline_seconds, state, finished_at, last_error)
              VALUES ('evaluate', 'made up 1', '{search_id}', 60, 'quarantined', now(), 'made up'),
                     ('evaluate', 'made up 2', '{search_id}', 60, 'available', NULL, '');
            INSERT INTO search (id, name, problem_id, batch_id, batch_key, state, settings, strategy, seed, device,
                                device_class, emulated, eager_ms, round, best_ms, best_ratio)
              SELECT 'gpusearch', '4_Timed_on_a_GPU', problem_id, '{batch_id}', 'made up', 'done', settings, strategy,
                     0, '\\x00', 'h200', false, 3, 1, 1, 3 FROM search WHERE id = '{search_id}';""",
        )
        variables = {"search": search_id, "batch": batch_id, "timed_on": "emulated device"}
        late = time.time() + 5
        for dashboard in files.load().values():
            for where, statement in files.sql_expressions(dashboard):
                if where in MADE_UP_ROWS:
                    with self.subTest(where):
                        self.assertTrue(cluster.read(expand_sql(statement, begin, late, variables), "copy"))

        def ask(name, kind):
            return cluster.read(self.statement(name, variables | {"timed_on": kind}, begin, end), "copy")[0]

        # Four problems now: what the emulated device timed is untouched by the GPU's, and the other way round.
        before = cluster.read(self.statement("batch_fast", variables, begin, end))[0]
        for name, value in before.items():
            self.assertAlmostEqual(number(value) * 3 / 4, number(ask("batch_fast", "emulated device")[name]), 9)
            self.assertAlmostEqual(1 / 4, number(ask("batch_fast", "GPU")[name]), 9)
        self.assertAlmostEqual(300, number(ask("batch_geometric_mean", "GPU")["geometric mean"]), 9)
        self.assertEqual(
            cluster.read(self.statement("batch_geometric_mean", variables, begin, end))[0],
            ask("batch_geometric_mean", "emulated device"),
        )


if __name__ == "__main__":
    os.chdir("/")
    unittest.main(verbosity=2)
