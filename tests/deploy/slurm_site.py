"""A Slurm of one node, started by a test: munged, slurmctld and slurmd with their own folders, ports and configuration.

Nothing of the machine's own Slurm is touched, neither systemd nor control groups are needed, and everything runs as the
user who starts it. Two GPUs are counted that are not there, so that a job asks for one as it would on a real node.
"""
import os
import pwd
import shutil
import socket
import subprocess
import time

CONFIGURATION = """
ClusterName=warpsmith-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=30
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs=8 RealMemory=65536 Gres=gpu:2 State=UNKNOWN
PartitionName=gpus Nodes=node1 Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        raise AssertionError(f"{name} is not installed; ./dev test installs it (Debian: slurmctld slurmd slurm-client munge)")
    return found


class SlurmSite:
    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        for name in ("munge", "state", "spool"):
            os.makedirs(f"{folder}/{name}")
        os.chmod(folder + "/munge", 0o755)
        with open(folder + "/munge/key", "wb") as out:
            out.write(os.urandom(128))
        os.chmod(folder + "/munge/key", 0o400)
        controller_port, node_port = free_ports(2)
        with open(folder + "/slurm.conf", "w") as out:
            out.write(CONFIGURATION.format(folder=folder, host=socket.gethostname().partition(".")[0],
                                           user=pwd.getpwuid(os.geteuid()).pw_name, controller_port=controller_port,
                                           node_port=node_port))
        with open(folder + "/gres.conf", "w") as out:
            out.write(f"AutoDetect=off\nNodeName=node1 Name=gpu File={folder}/gpu[0-1]\n")
        # Nothing here is confined by cgroups, which a bare root need not have mounted.
        with open(folder + "/cgroup.conf", "w") as out:
            out.write(f"CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/cgroup\n")
        for number in range(2):
            with open(f"{folder}/gpu{number}", "w"):
                pass
        self.environment = dict(os.environ, SLURM_CONF=folder + "/slurm.conf")

    def start(self):
        folder = self.folder
        self._run("munged", "--foreground", f"--socket={folder}/munge/socket", f"--key-file={folder}/munge/key",
                  f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
        self._wait(lambda: os.path.exists(folder + "/munge/socket"), "munged")
        self._run("slurmctld", "-D", "-f", folder + "/slurm.conf")
        self._run("slurmd", "-D", "-N", "node1", "-f", folder + "/slurm.conf")
        self._wait(lambda: self.call("sinfo", "-h", "-o", "%T", check=False).strip() == "idle", "the node")

    def _run(self, name, *arguments):
        with open(f"{self.folder}/{name}.out", "ab") as log:
            self.processes.append((name, subprocess.Popen([program(name), *arguments], stdin=subprocess.DEVNULL,
                                                          stdout=log, stderr=log, env=self.environment,
                                                          start_new_session=True, cwd=self.folder)))

    def _wait(self, ready, what, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            for name, process in self.processes:
                if process.poll() is not None:
                    raise AssertionError(f"{name} ended with status {process.returncode}\n{self.logs()}")
            if time.monotonic() > end:
                raise AssertionError(f"{what} is not ready after {seconds} s\n{self.logs()}")
            time.sleep(0.1)

    def stop(self):
        """Jobs too, whatever a failed test left: they would outlive the daemons."""
        if len(self.processes) == 3 and all(process.poll() is None for _, process in self.processes):
            self.call("scancel", "--state=PENDING", "--partition=gpus", check=False)
            self.call("scancel", "--full", "--signal=KILL", "--partition=gpus", check=False)
            end = time.monotonic() + 20
            while self.call("squeue", "-h", check=False).strip() and time.monotonic() < end:
                time.sleep(0.2)
        for _, process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.processes = []

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                with open(f"{self.folder}/{name}", errors="replace") as lines:
                    text += f"--- {name}\n" + "".join(lines.readlines()[-30:])
        return text

    def call(self, name, *arguments, check=True):
        done = subprocess.run([program(name), *arguments], capture_output=True, text=True, env=self.environment,
                              timeout=60, cwd=self.folder)
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(arguments)}: {done.stdout}{done.stderr}\n{self.logs()}")
        return done.stdout

    def jobs(self):
        """{"3_0": ("COMPLETED", "0:0")}"""
        jobs = {}
        for text in self.call("scontrol", "-o", "show", "job", check=False).splitlines():
            fields = dict(part.split("=", 1) for part in text.split() if "=" in part)
            if "JobId" in fields:
                name = f"{fields.get('ArrayJobId', fields['JobId'])}_{fields.get('ArrayTaskId', '')}"
                jobs[name] = (fields["JobState"], fields["ExitCode"])
        return jobs
