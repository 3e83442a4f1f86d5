"""Faults on a cluster of real processes while searches run: nothing lost, nothing doubled, and the longest stall.

Searches of three problems are kept running (a fake model over HTTP writes the kernels, the emulated device judges them),
faults come one after the other in an order drawn from the seed, and at the end everything must come to rest.

Example: ./dev chaos --faults 200 --seed 1
"""
import argparse
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "integration"))

import cluster as clusters  # noqa: E402
import faults as all_faults  # noqa: E402
from proxy import Proxy  # noqa: E402

RUNNING = 3
# What must be zero at the end, and what it would mean.
LOST = {
    "searches that did not end well": "select count(*) from search where state not in ('done')",
    # In quarantine is what failed as often as a task may: many faults can do that to a sound one. It is kept, with the
    # reason, until an operator tries it again.
    "tasks that neither ended nor were called back nor set aside":
        "select count(*) from task where state not in ('done', 'cancelled', 'quarantined')",
    "tasks set aside before they had failed as often as they may":
        "select count(*) from task where state = 'quarantined' and failures < max_failures and worker_deaths < 2",
    "tasks set aside for no reason": "select count(*) from task where state = 'quarantined' and last_error = ''",
    "kernels judged without a recorded evaluation":
        "select count(*) from candidate c where state = 'done' and duplicate_of is null and not exists "
        "(select 1 from evaluation e where e.candidate_id = c.id)",
    "money still set aside": "select count(*) from reservation where state = 'open'",
}
DOUBLED = {
    "evaluations of one kernel at one stage":
        "select count(*) from (select candidate_id, stage from evaluation group by 1, 2 having count(*) > 1) twice",
    "evaluations of one task": "select count(*) from (select task_id from evaluation group by 1 having count(*) > 1) twice",
    "implementations of one idea":
        "select count(*) from (select idea_id, idx, repair_attempt, coalesce(repair_of, '') from candidate "
        "where idea_id is not null group by 1, 2, 3, 4 having count(*) > 1) twice",
    "ideas of one call": "select count(*) from (select propose_task_id, position from idea where propose_task_id is not "
                         "null group by 1, 2 having count(*) > 1) twice",
    "calls under one key": "select count(*) from (select idempotency_key, position from llm_call group by 1, 2 "
                           "having count(*) > 1) twice",
}


class Cluster(clusters.Cluster):
    """Workers and gateway behind relays that can be cut; few connections, so that they run out."""

    max_connections = 24

    def __init__(self, gateway_config, environment):
        self.worker_proxy = self.gateway_proxy = None
        super().__init__(workers=0, gateway_config=gateway_config, lease_seconds=all_faults.LEASE_SECONDS,
                         environment=environment)
        self.worker_proxy = Proxy(self.folder + "/workers.sock", self.folder + "/coordinator.sock")
        for number in range(2):
            self.start_worker(number)

    def start_postgres(self, initialise=False):
        super().start_postgres(initialise)
        if initialise:
            self.sql(f"alter system set max_connections = {self.max_connections}")
            self.sql("alter system set superuser_reserved_connections = 2")
            self.sql("create role lab login superuser")
            self.stop("postgres", 2)
            super().start_postgres()

    def start_sql(self, text):
        """A client that nobody waits for; the coordinator's user is a superuser, and so is this one."""
        import subprocess
        return subprocess.Popen([clusters.postgres_program("psql"), self.database.replace("user=warpsmith", "user=lab"),
                                 "-XAtc", text], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def coordinator_command(self, listen):
        return [clusters.BIN + "/warpsmith-coordinator", "--listen", listen, "--database", self.database, "--gateway",
                f"unix:{self.folder}/gateway-relay.sock", "--lease-seconds", str(self.lease_seconds),
                "--max-worker-deaths", "100", "--database-connections", "8"]

    def start_coordinator(self):
        if self.gateway_proxy is None:
            self.gateway_proxy = Proxy(self.folder + "/gateway-relay.sock", self.folder + "/gateway.sock")
        self.start("coordinator", self.coordinator_command(self.coordinator_address))
        self.wait(lambda: self.cli("status", check=False).returncode == 0, "the coordinator")

    def start_worker(self, number):
        self.start(f"worker{number}", [clusters.BIN + "/warpsmith-worker", "--coordinator",
                                       f"unix:{self.folder}/workers.sock", "--worker-id", f"w{number}", "--data-dir",
                                       f"{self.folder}/worker{number}", "--device", "emulated"])


class Feeder(threading.Thread):
    """Keeps searches running. A submission that no answer came to is made again under its own id."""

    def __init__(self, cluster, seed):
        super().__init__(daemon=True)
        self.cluster, self.random = cluster, random.Random(f"feeder {seed}")
        self.ids, self.stopping, self.submitted = [], threading.Event(), 0

    def run(self):
        while not self.stopping.is_set():
            active = self.cluster.sql("select count(*) from search where state in ('intake', 'running')", check=False)
            if active.isdigit() and int(active) < RUNNING:
                self.submit()
            self.stopping.wait(0.5)

    def submit(self):
        name = self.random.choice(("relu", "softmax", "layer_norm"))
        request = f"chaos-{self.submitted}"
        while True:
            done = self.cluster.cli("submit", clusters.problem(name), "--rounds", "2", "--preset", "quick",
                                    "--models", "recipes" if name != "relu" else "fake", "--request-id", request,
                                    "--json", check=False)
            if done.returncode == 0:
                self.submitted += 1
                return
            if self.stopping.wait(0.3):
                return


def completions(cluster):
    text = cluster.sql("select extract(epoch from finished_at) from task where finished_at is not null order by 1")
    return [float(line) for line in text.split()]


def report(cluster, log, begin):
    """Prints the faults by kind and the stalls; returns the longest stall."""
    times = [begin] + [at for at in completions(cluster) if at >= begin]
    stalls = sorted(((after - before, before, after) for before, after in zip(times, times[1:])), reverse=True)
    kinds = {}
    for name, start, end, _ in log:
        after = min((at for at in times if at > end), default=end)
        count, longest = kinds.get(name, (0, 0.0))
        kinds[name] = (count + 1, max(longest, after - end))
    print(f"\n{'fault':40} {'times':>5}  longest until the next recorded result, s")
    for name, (count, longest) in sorted(kinds.items()):
        print(f"{name:40} {count:5}  {longest:.1f}")
    print("\nlongest stalls, and the faults within them:")
    for seconds, before, after in stalls[:5]:
        within = [name for name, start, end, _ in log if start < after and end > before]
        print(f"  {seconds:5.1f} s  {', '.join(within) or 'none'}")
    return stalls[0][0] if stalls else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="comma-separated kinds; --list shows them")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(name for name, _ in all_faults.Faults(None).all()))
        return 0
    chance = random.Random(arguments.seed)

    class Cleanups:  # stands for a unittest's addCleanup
        def __init__(self):
            self.calls = []

        def addCleanup(self, call, *more):
            self.calls.append((call, more))

    cleanups = Cleanups()
    config = clusters.start_fake_model(cleanups, {"relu": ["relu_plain.cu", "relu_template.cu",
                                                           "relu_three_dimensions.cu"]},
                                       [{"slow_s": 0.02, "chunk": 60}]) + "  - {name: recipes, provider: catalog}\n"
    failed = []
    try:
        with Cluster(config, {"FAKE_MODEL_KEY": "any"}) as cluster:
            faults = all_faults.Faults(cluster)
            kinds = faults.all()
            if arguments.only:
                kinds = [kind for kind in kinds if kind[0] in arguments.only.split(",")]
            feeder = Feeder(cluster, arguments.seed)
            feeder.start()
            cluster.wait(lambda: cluster.sql("select count(*) from evaluation", check=False) not in ("", "0"),
                         "the first evaluation", 240)
            begin, log, order = time.time(), [], []
            while len(log) < arguments.faults:
                if not order:
                    order = kinds[:]
                    chance.shuffle(order)
                name, fault = order.pop()
                start = time.time()
                said = fault(random.Random(f"{arguments.seed}/{len(log)}"))
                log.append((name, start, time.time(), said))
                print(f"{len(log):4} {time.time() - begin:7.1f} s  {name} {said}", flush=True)
                time.sleep(chance.uniform(0.3, 2.0))
            feeder.stopping.set()
            feeder.join()
            print(f"\n{feeder.submitted} searches; waiting for the last to end", flush=True)
            end = time.time()
            try:
                cluster.wait(lambda: cluster.sql("select count(*) from search where state in ('intake', 'running')",
                                                 check=False) == "0", "the end of all searches", 600)
                cluster.wait(lambda: cluster.sql("select count(*) from task where state in ('available', 'running')",
                                                 check=False) == "0", "the end of all tasks", 60)
            except AssertionError as error:
                failed.append(str(error))
            print(f"at rest after {time.time() - end:.1f} s")
            longest = report(cluster, log, begin)
            totals = {}
            for title, checks in (("lost", LOST), ("doubled", DOUBLED)):
                totals[title] = 0
                for what, query in checks.items():
                    count = int(cluster.sql(query))
                    totals[title] += count
                    if count:
                        failed.append(f"{count} {title}: {what}")
            set_aside = int(cluster.sql("select count(*) from task where state = 'quarantined'"))
            listed = json.loads(cluster.cli("queue", "quarantine", "list", "--json").stdout).get("total", 0)
            if listed != set_aside:
                failed.append(f"{set_aside} tasks are set aside, and {listed} listed")
            print(f"\n{len(log)} faults, {cluster.sql('select count(*) from task')} tasks, "
                  f"{cluster.sql('select count(*) from evaluation')} evaluations: {totals['lost']} lost, "
                  f"{totals['doubled']} doubled, longest stall {longest:.1f} s; {set_aside} set aside after as many "
                  "failures as a task may have")
            if failed:
                print(cluster.sql("select id, state, error from search where state <> 'done'"))
                print(cluster.sql("select id, kind, state, last_error from task where state not in ('done', 'cancelled')"))
                raise AssertionError("; ".join(failed))
    except AssertionError as error:
        print(f"FAILED: {error}")
        return 1
    finally:
        for call, more in reversed(cleanups.calls):
            call(*more)
    return 0


if __name__ == "__main__":
    os.chdir("/")
    sys.exit(main())
