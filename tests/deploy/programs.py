"""What the deployment tests share: the repository's folder, and what our programs accept."""
import functools
import os
import re
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEPLOY = os.path.join(SOURCE, "deploy")
BIN = os.environ["WARPSMITH_BIN_DIR"]


def read(*path):
    with open(os.path.join(DEPLOY, *path)) as text:
        return text.read()


@functools.lru_cache(maxsize=None)
def flags_of(program):
    """Flags of `program` and the variables that stand for some of them, as its --help lists them."""
    done = subprocess.run([f"{BIN}/{program}", "--help"], capture_output=True, text=True, timeout=60, check=True)
    options = done.stdout.split("Options:", 1)[1]
    flags = set(re.findall(r"^\s+(?:-\w,)?(--[a-z][a-z-]*)", options, re.MULTILINE))
    variables = set(re.findall(r"Env:([A-Z_]+)", options))
    if "--help" not in flags or len(flags) < 8:
        raise AssertionError(f"{program} --help is not understood:\n{done.stdout}")
    return flags, variables


def check_arguments(test, program, arguments, where):
    """Every flag is one that `program` knows and gets a value; returns them as a dictionary."""
    flags, _ = flags_of(program)
    given = {}
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        test.assertIn(flag, flags, f"{where}: {program} knows no {flag}")
        test.assertTrue(equals and value, f"{where}: {flag} has no value")
        test.assertNotIn(flag, given, f"{where}: {flag} stands there twice")
        given[flag] = value
    return given


def check_server(test, given, where):
    """A server that is reached from other machines has TLS and tokens."""
    for flag in ("--tls-certificate", "--tls-key", "--tls-ca", "--tokens", "--token-file"):
        test.assertIn(flag, given, where)


# Seconds that a program gives itself between SIGTERM and its end, whatever hangs; gpu_worker/main.cc and others.
def longest_stop(program, given):
    if program == "warpsmith-coordinator":
        return float(given.get("--stop-seconds", 20))
    if program == "warpsmith-gateway":
        return float(given.get("--drain-seconds", 4)) + 10
    several = given.get("--gpus", "none") == "all"
    return float(given.get("--drain-seconds", 60)) + (60 if several else 30)
