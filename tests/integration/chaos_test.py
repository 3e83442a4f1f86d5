"""Processes killed in mid-search: the search ends, and every task is recorded once. `./dev chaos` does it at length."""
import os
import time
import unittest

from cluster import Cluster, start_fake_model


class Killed(unittest.TestCase):
    def run_search(self, harm, problem="softmax", **options):
        """Submits, lets `harm(cluster, search_id)` do its worst once work is under way, and checks the end."""
        with Cluster(workers=2, lease_seconds=3, **options) as cluster:
            search_id = cluster.submit(problem, "--rounds", "2", "--parents", "1", "--ideas", "2",
                                       "--implementations", "2")
            harm(cluster, search_id)
            search = cluster.wait_for_end(search_id, 240)
            self.assertEqual(search["state"], "SEARCH_STATE_DONE", search.get("error"))
            self.assertGreater(search["best_ms"], 0)
            self.assertEqual("0", cluster.sql("select count(*) from task where state not in ('done', 'cancelled')"))
            self.assertEqual("0", cluster.sql(
                "select count(*) from (select candidate_id, stage from evaluation group by 1, 2 having count(*) > 1) twice"))
            self.assertEqual("0", cluster.sql(
                "select count(*) from candidate c where state = 'done' and duplicate_of is null and not exists "
                "(select 1 from evaluation e where e.candidate_id = c.id)"))
            self.assertEqual("0", cluster.sql(
                "select count(*) from (select idea_id, idx, repair_attempt, coalesce(repair_of, '') r from candidate "
                "where idea_id is not null group by 1, 2, 3, 4 having count(*) > 1) twice"))

    @staticmethod
    def wait_for_evaluation(cluster, search_id, count=1):
        Cluster.wait(lambda: int(cluster.sql("select count(*) from task where kind = 'evaluate' and state = 'running'")
                                 or 0) >= count, "an evaluation", 120)

    def test_workers_coordinator_and_database_killed_in_mid_evaluation(self):
        def harm(cluster, search_id):
            self.wait_for_evaluation(cluster, search_id)
            holder = cluster.sql("select owner_worker from task where kind = 'evaluate' and state = 'running' "
                                 "limit 1") or "w0"
            number = int(holder[1:])
            cluster.kill(f"worker{number}")
            cluster.start_worker(number)
            self.wait_for_evaluation(cluster, search_id)
            cluster.kill("coordinator")
            time.sleep(0.5)
            cluster.start_coordinator()
            self.wait_for_evaluation(cluster, search_id)
            cluster.stop("postgres", 3)  # SIGQUIT: immediate shutdown, as a crash
            time.sleep(1)
            cluster.start_postgres()

        self.run_search(harm)

    def test_gateway_killed_in_mid_reply(self):
        # The fake model takes seconds for every reply, so each kill falls into the middle of several.
        config = start_fake_model(self, {"relu": ["relu_plain.cu", "relu_template.cu", "relu_three_dimensions.cu"]},
                                  [{"slow_s": 0.15, "chunk": 40}])

        def harm(cluster, search_id):
            for kind in ("propose", "implement", "implement"):
                Cluster.wait(lambda: cluster.sql(f"select count(*) from task where kind = '{kind}' and state = 'running'")
                             not in ("", "0"), "a model call", 120)
                time.sleep(1)
                cluster.kill("gateway")
                cluster.start_gateway()

        self.run_search(harm, problem="relu", gateway_config=config, environment={"FAKE_MODEL_KEY": "any"})


if __name__ == "__main__":
    os.chdir("/")
    unittest.main(verbosity=2)
