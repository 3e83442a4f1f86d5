"""Files of an export, made once for all tests of exports, and their models over a stand-in for the GPU (stand_in.py)."""
import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import torch

import stand_in
from exports_cases import FORMS, FORMS_MODULE, LARGE, LIBRARY, SMALL

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
TOOL = os.environ["WARPSMITH_EXPORT_TOOL"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "gpu", "corpus"))

import signatures  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shapes_only(model, inputs):
    """The output of large modules, on PyTorch's device without memory."""
    with torch.no_grad():
        return model.to("meta")(*[value.to("meta") for value in inputs]), None


class Exported:
    """`folder` with the files, `names` of what was exported, `problems` by name."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ws-exports-")
        self.problems = {}
        entries, run = [], signatures.run
        for file, problem in SMALL:
            self.add(entries, file.split("/")[1][:-3], os.path.join(SOURCE, "tests/corpus", file),
                     os.path.join(SOURCE, "tests/problems", problem + ".py"))
        signatures.run = shapes_only
        manifest = json.loads(read(os.path.join(SOURCE, "tests/corpus/gpu/manifest.json")))
        problems = {entry["file"]: entry["problem"] for entry in manifest}
        for name in LARGE:
            self.add(entries, "gpu_" + name[:-3], os.path.join(SOURCE, "tests/corpus/gpu/honest", name),
                     os.path.join(SOURCE, "tests/problems", problems["honest/" + name] + ".py"))
        signatures.run = run
        for name, (source, tune) in FORMS.items():
            self.add(entries, name[:-3], write(os.path.join(self.folder.name, name), source),
                     write(os.path.join(self.folder.name, "forms.py"), FORMS_MODULE), tune)
        for name, (module, source) in LIBRARY.items():
            self.add(entries, name, write(os.path.join(self.folder.name, name + "_in.cu"), source),
                     write(os.path.join(self.folder.name, name + ".py"), module))
        done = subprocess.run([TOOL, self.folder.name], input=json.dumps(entries), text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        self.names = [entry["name"] for entry in entries]

    def add(self, entries, name, candidate, problem, tune=None):
        entries.append({"name": name, "candidate": candidate, "reference": read(problem),
                        "signature": signatures.signature(problem)})
        if tune:
            entries[-1]["tune"] = tune
        self.problems[name] = problem


exported = functools.lru_cache(None)(Exported)


class ExportsCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names, cls.problems = exported().names, exported().problems

    def path(self, name):
        return os.path.join(exported().folder.name, name)

    def model_of(self, name):
        """The exported module, its ModelNew with made-up arguments, and what it was called with."""
        module = load(self.path(name + "_model.py"), name + "_model")
        module._WarpsmithCuda = stand_in.StandIn
        problem = load(self.problems[name], name + "_problem")
        model = module.ModelNew(*problem.get_init_inputs())
        arguments = [torch.empty_strided(shape, strides, dtype=getattr(torch, dtype)) for dtype, shape, strides in
                     module._WarpsmithPlan.inputs.values()]
        if not name.startswith("gpu_"):
            arguments = problem.get_inputs()
        return module, model, arguments
