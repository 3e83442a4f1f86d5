"""deploy/images: what a linter would say of the Dockerfile, and that the images have what the programs load.

No image is built here: that needs Docker and an hour. What can be known without is checked against the programs of this
build: every shared library that they load comes from a package that the runtime image installs.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from programs import BIN, DEPLOY, SOURCE, read

INSTRUCTIONS = {"ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "SHELL",
                "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}


def instructions(text):
    """(word, rest) of each, with continued lines joined and comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word, rest.strip()


def apt_packages(run):
    """Names behind apt-get install."""
    for part in re.findall(r"apt-get install ((?:(?!&&).)*)", run):
        yield from (word for word in part.split() if not word.startswith("-"))


class ImagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = read("images", "Dockerfile")
        cls.all = list(instructions(cls.text))
        cls.stages = {}  # name: (base, [instructions])
        cls.arguments = {}
        stage = None
        for word, rest in cls.all:
            if word == "FROM":
                base, _, stage = rest.partition(" AS ")
                cls.stages[stage] = (base, [])
            elif stage is None:
                name, _, value = rest.partition("=")
                cls.arguments[name] = value
            else:
                cls.stages[stage][1].append((word, rest))

    def chain(self, stage):
        """Instructions of a stage and of those that it is built on, the oldest first."""
        base, own = self.stages[stage]
        return (self.chain(base) if base in self.stages else []) + own

    def test_known_instructions(self):
        self.assertLessEqual({word for word, _ in self.all}, INSTRUCTIONS)
        self.assertEqual(set(self.stages), {"cuda", "builder", "runtime", "coordinator", "gateway", "worker-programs",
                                            "worker", "worker-emulated"})

    def test_bases_are_pinned_by_arguments(self):
        for stage, (base, _) in self.stages.items():
            if base in self.stages:
                continue
            name = re.fullmatch(r"\$\{([A-Z_]+)\}", base)
            self.assertTrue(name, f"{stage}: the base {base} is no argument")
            value = self.arguments[name[1]]
            self.assertRegex(value, r"^[a-z0-9./-]+:\d[\w.-]+$", f"{name[1]}={value} has no version")

    def test_ends_unprivileged_with_a_health_check(self):
        for stage in ("coordinator", "gateway", "worker", "worker-emulated"):
            words = self.chain(stage)
            users = [rest for word, rest in words if word == "USER"]
            self.assertEqual(users[-1:], ["warpsmith"], stage)
            self.assertTrue(any(word == "HEALTHCHECK" for word, _ in words), stage)
            entry = [rest for word, rest in words if word == "ENTRYPOINT"][-1]
            program = re.search(r'"/opt/warpsmith/bin/(warpsmith-\w+)"', entry)[1]
            copied = " ".join(rest for word, rest in words if word == "COPY")
            self.assertIn(program, copied, stage)
            # Its own health page's port is one that it exposes.
            port = re.search(r'health", "(\d+)"', [rest for word, rest in words if word == "HEALTHCHECK"][-1])[1]
            self.assertIn(port, " ".join(rest for word, rest in words if word == "EXPOSE").split(), stage)

    def test_no_secret_is_built_in(self):
        for word, rest in self.all:
            if word in ("ENV", "ARG"):
                self.assertNotRegex(rest, r"(?i)(key|token|password|secret)", f"{word} {rest}")
            self.assertFalse(word == "ADD", "ADD: use COPY")
            self.assertNotRegex(rest, r"\b(sudo|curl|wget)\b", "downloads by hand")
            if "apt-get install" in rest:
                self.assertIn("--no-install-recommends", rest)
                self.assertIn("apt-get update", rest, "an index from another layer may be old")
        ignored = read("images", "Dockerfile.dockerignore").split("\n")
        self.assertIn("*", ignored, "everything is left out but what is named")
        for line in ignored:
            self.assertNotRegex(line, r"^!(build|\.git|deploy/compose|\.)")

    def test_copied_files_exist_and_are_not_ignored(self):
        kept = [line[1:] for line in read("images", "Dockerfile.dockerignore").split("\n") if line.startswith("!")]
        for line in kept:
            self.assertTrue(os.path.exists(os.path.join(SOURCE, line)), line)
        for word, rest in self.all:
            if word == "COPY" and "--from" not in rest:
                for source in [part for part in rest.split()[:-1] if not part.startswith("--")]:
                    if source != ".":
                        self.assertIn(source, kept)
        # All that the build reads: folders with a CMakeLists.txt, and what install rules and scripts name.
        for file in glob.glob(SOURCE + "/*/CMakeLists.txt"):
            folder = os.path.basename(os.path.dirname(file))
            if folder not in ("build", "fuzz"):
                self.assertIn(folder, kept)

    def test_packages_exist(self):
        names = {name for word, rest in self.all if word == "RUN" for name in apt_packages(rest)}
        self.assertGreater(len(names), 30)
        known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(names - set(known), set(), "Debian 12 has no such packages")

    def test_the_builder_has_what_the_build_needs(self):
        with open(SOURCE + "/dev") as text:
            listed = re.search(r"^packages=\((.*?)^\)", text.read(), re.MULTILINE | re.DOTALL)[1]
        needed = {name for line in listed.split("\n") for name in line.partition("#")[0].split()}
        # What only tests and the running system need.
        needed -= {"postgresql", "openssl", "nghttp2-server", "procps"}
        needed = {name for name in needed if not name.startswith("python3")}
        has = {name for word, rest in self.stages["builder"][1] if word == "RUN" for name in apt_packages(rest)}
        # A development package that another one depends on need not be named.
        self.assertEqual({n for n in needed - has if n.endswith("-dev") and n not in self.closure(has)}, set())
        self.assertEqual({n for n in needed - has if not n.endswith("-dev")}, set())

    @staticmethod
    def closure(packages):
        done = subprocess.run(["apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
                               "--no-breaks", "--no-replaces", "--no-enhances", *sorted(packages)],
                              capture_output=True, text=True, check=True)
        return {line.strip() for line in done.stdout.split("\n") if line and not line.startswith((" ", "<"))}

    def test_every_library_comes_from_an_installed_package(self):
        runtime = {name for word, rest in self.stages["runtime"][1] if word == "RUN" for name in apt_packages(rest)}
        installed = self.closure(runtime) | runtime
        libraries = set()
        for program in glob.glob(BIN + "/warpsmith*"):
            done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
            self.assertNotIn("not found", done.stdout, program)
            libraries.update(os.path.realpath(path) for path in re.findall(r"=> (/\S+)", done.stdout)
                             if not re.search(r"/lib(asan|ubsan|tsan)\.", path))  # of sanitized builds
        self.assertGreater(len(libraries), 20)
        missing = {}
        # dpkg knows the files under /usr/lib, whichever of the merged folders the loader names.
        done = subprocess.run(["dpkg-query", "-S", *sorted(libraries), *sorted(
            path[len("/usr"):] for path in libraries if path.startswith("/usr/lib"))], capture_output=True, text=True)
        owners = {}
        for line in done.stdout.split("\n"):
            package, _, path = line.partition(": ")
            if path:
                owners[os.path.realpath(path)] = package.partition(":")[0]
        for library in sorted(libraries):
            owner = owners.get(library)
            if owner not in installed:
                missing[library] = owner
        self.assertEqual(missing, {}, "not in the runtime image: name their packages in deploy/images/Dockerfile")

    def test_what_is_installed_finds_its_data(self):
        """install.sh as the builder runs it: the programs work from there, without the source."""
        folder = tempfile.mkdtemp(prefix="ws-install-")
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run([DEPLOY + "/install.sh", os.path.dirname(BIN), folder + "/opt"], check=True, capture_output=True,
                       timeout=300)
        for data in ("migrations/0001_search_tree.sql", "coordinator/store/sql", "llm_gateway/prompts/default",
                     "llm_gateway/limits/prices.yaml", "llm_gateway/catalog/recipes", "gpu_worker/reference/python",
                     "gpu_worker/device/emulated/include"):
            self.assertTrue(os.path.exists(f"{folder}/opt/share/warpsmith/{data}"), data)
        for program in glob.glob(BIN + "/warpsmith*"):
            self.assertTrue(os.access(f"{folder}/opt/bin/{os.path.basename(program)}", os.X_OK), program)

    def test_health(self):
        """The health check of the images, against a real page."""
        import http.server
        import threading

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response({"/healthz": 200, "/readyz": 503}.get(self.path, 404))
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Page)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        port = str(server.server_address[1])

        def health(*arguments):
            return subprocess.run([DEPLOY + "/images/health.sh", *arguments], capture_output=True).returncode

        self.assertEqual(health(port, "/healthz"), 0)
        self.assertNotEqual(health(port, "/readyz"), 0)
        self.assertNotEqual(health("1", "/healthz"), 0)
        self.assertNotEqual(health(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
