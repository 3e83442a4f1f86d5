"""What can go wrong with a cluster of real processes. Each fault harms it for a while and leaves it whole again."""
import os
import signal
import subprocess
import time

LEASE_SECONDS = 3


def children(pid):
    """All processes below `pid`."""
    found, parents = [], {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    text = stat.read()
            except OSError:
                continue
            parents.setdefault(int(text.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as text:
            return text.read().split(b"\0")[0].decode(errors="replace")
    except OSError:
        return ""


def tell(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


class Faults:
    """The faults by name; each is called with a random.Random of its own and says in a word whom it met."""

    def __init__(self, cluster):
        self.cluster = cluster

    def all(self):
        return [(name[6:], getattr(self, name)) for name in sorted(dir(self)) if name.startswith("fault_")]

    def _worker(self, random):
        return random.choice([name for name in self.cluster.processes if name.startswith("worker")])

    def _stop(self, pid, seconds):
        if tell(pid, signal.SIGSTOP):
            time.sleep(seconds)
            tell(pid, signal.SIGCONT)

    def fault_worker_killed(self, random):
        name = self._worker(random)
        self.cluster.kill(name)
        time.sleep(random.uniform(0, 2))
        self.cluster.start_worker(int(name[6:]))
        return name

    def fault_worker_stopped_beyond_its_lease(self, random):
        name = self._worker(random)
        self._stop(self.cluster.processes[name].pid, LEASE_SECONDS + random.uniform(0.5, 3))
        return name

    def fault_worker_stopped_briefly(self, random):
        name = self._worker(random)
        self._stop(self.cluster.processes[name].pid, random.uniform(0.2, 1.5))
        return name

    def _executor(self, random):
        below = []
        for name, process in self.cluster.processes.items():
            if name.startswith("worker"):
                below += [pid for pid in children(process.pid) if command_of(pid).endswith("warpsmith-executor")]
        return random.choice(below) if below else None

    def fault_executor_killed(self, random):
        pid = self._executor(random)
        return "one" if pid and tell(pid, signal.SIGKILL) else "none there"

    def fault_executor_stopped(self, random):
        pid = self._executor(random)
        if not pid:
            return "none there"
        self._stop(pid, random.uniform(0.5, 3))
        return "one"

    def fault_oracle_killed(self, random):
        below = []
        for name, process in self.cluster.processes.items():
            if name.startswith("worker"):
                below += [pid for pid in children(process.pid) if "python" in command_of(pid)]
        return "one" if below and tell(random.choice(below), signal.SIGKILL) else "none there"

    def fault_gateway_killed(self, random):
        self.cluster.kill("gateway")
        time.sleep(random.uniform(0, 2))
        self.cluster.start_gateway()
        return ""

    def fault_gateway_stopped(self, random):
        self._stop(self.cluster.processes["gateway"].pid, random.uniform(0.5, 5))
        return ""

    def fault_coordinator_killed(self, random):
        self.cluster.kill("coordinator")
        time.sleep(random.uniform(0, 2))
        self.cluster.start_coordinator()
        return ""

    def fault_coordinator_stopped(self, random):
        self._stop(self.cluster.processes["coordinator"].pid, random.uniform(0.5, LEASE_SECONDS + 3))
        return ""

    def fault_second_coordinator(self, random):
        """Another one on the same database must refuse and change nothing, unless the first one has lost the database at
        that moment: then it leads, and the first one must have ended by itself."""
        second = subprocess.Popen(self.cluster.coordinator_command(f"unix:{self.cluster.folder}/second.sock") +
                                  ["--election-patience-seconds", str(random.choice((0, 1)))],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env=self.cluster.environment)
        try:
            said = second.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            first_ended = self.cluster.processes["coordinator"].poll() is not None
            second.kill()
            said = second.communicate()[1]
            if not first_ended:
                raise AssertionError(f"two coordinators at once: {said[-300:]}") from None
            self.cluster.start_coordinator()
            return "took over"
        if second.returncode == 0 or "coordinator" not in said:
            raise AssertionError(f"a second coordinator did not refuse: exit {second.returncode}: {said[-300:]}")
        return "refused"

    def _backends(self):
        rows = self.cluster.sql("select pid from pg_stat_activity where backend_type = 'client backend' and "
                                "pid <> pg_backend_pid()", check=False)
        return [int(row) for row in rows.split()]

    def fault_backend_terminated(self, random):
        pids = self._backends()
        if not pids:
            return "none there"
        self.cluster.sql(f"select pg_terminate_backend({random.choice(pids)})", check=False)
        return "one"

    def fault_backend_killed(self, random):
        """PostgreSQL then ends all its backends and recovers as from a crash."""
        pids = self._backends()
        if not pids or not tell(random.choice(pids), signal.SIGKILL):
            return "none there"
        self.cluster.wait(lambda: self.cluster.sql("select 1", check=False) == "1", "PostgreSQL")
        return "one"

    def fault_backend_stopped(self, random):
        pids = self._backends()
        if not pids:
            return "none there"
        self._stop(random.choice(pids), random.uniform(0.5, LEASE_SECONDS + 1))
        return "one"

    def fault_database_restarted(self, random):
        self.cluster.stop("postgres", random.choice((signal.SIGQUIT, signal.SIGINT)))
        time.sleep(random.uniform(0, 2))
        self.cluster.start_postgres()
        return ""

    def fault_connections_exhausted(self, random):
        """Clients that take every connection that is left, while the coordinator's own are ended."""
        hold = f"select pg_sleep({random.uniform(2, 4):.2f})"
        clients = [self.cluster.start_sql(hold) for _ in range(self.cluster.max_connections)]
        time.sleep(0.5)
        self.cluster.sql("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and "
                         "query not like '%pg_sleep%' and backend_type = 'client backend'", check=False)
        for client in clients:
            client.wait(60)
        return f"{len(clients)} clients"

    def fault_reader_holds_a_transaction(self, random):
        """Goes on beside the faults that follow: an old snapshot keeps dead rows alive."""
        self.cluster.start_sql("begin isolation level repeatable read; select count(*) from task; "
                               f"select pg_sleep({random.uniform(10, 30):.1f}); commit")
        return ""

    def fault_workers_cut_off(self, random):
        mode = random.choice(("cut", "hold"))
        self.cluster.worker_proxy.set(mode)
        time.sleep(random.uniform(0.5, LEASE_SECONDS + 3))
        self.cluster.worker_proxy.set("pass")
        return mode

    def fault_gateway_cut_off(self, random):
        mode = random.choice(("cut", "hold"))
        self.cluster.gateway_proxy.set(mode)
        time.sleep(random.uniform(0.5, 5))
        self.cluster.gateway_proxy.set("pass")
        return mode
