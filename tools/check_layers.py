#!/usr/bin/env python3
"""Fails on an #include that the dependency list of docs/architecture.md does not allow.

    tools/check_layers.py [ROOT]

A layer may include itself, the layers in its row and whatever those may include. Public headers
belong to the layer in PUBLIC and include nothing but the C++ standard library and each other.
"""

import pathlib
import re
import sys

# layer: the layers it may include directly. This is the list of docs/architecture.md.
LAYERS = {
    "base": [],
    "memory": ["base"],
    "planner": ["base"],
    "h5": ["base"],
    "tensor": ["memory"],
    "ops": ["tensor"],
    "backend/api": ["tensor", "ops", "memory"],
    "backend/cpu": ["backend/api"],
    "backend/gpu": ["backend/api"],
    "backend/opencl": ["backend/api", "backend/gpu"],
    "backend/cuda": ["backend/api", "backend/gpu"],
    "backend/sim": ["backend/api", "backend/cpu"],
    "graph": ["ops", "backend/api"],
    "runtime": ["graph", "planner", "memory", "backend/api"],
    "data": ["runtime"],
    "keras": ["data", "h5"],
    "lite": ["keras", "graph"],
    "share": ["runtime"],
    "distribute": ["runtime"],
}

# Layers whose tests go through a higher one: the op table runs every op as users call it.
TESTED_THROUGH = {"ops": "runtime"}

# Files that may include more than their layer.
EXCEPTIONS = {
    "src/runtime/backends.cpp": [
        "backend/cpu", "backend/gpu", "backend/opencl", "backend/cuda", "backend/sim"],
}

# Public headers, below include/plimsoll; a folder ends in "/". ANY: the umbrella, above all layers.
ANY = "any"
PUBLIC = {
    "error.h": "base",
    "bytes.h": "base",
    "settings.h": "base",
    "json.h": "base",
    "memory.h": "memory",
    "memory/": "memory",
    "planner.h": "planner",
    "dtype.h": "tensor",
    "float16.h": "tensor",
    "shape.h": "tensor",
    "tensor.h": "tensor",
    "tensor_spec.h": "tensor",
    "nest.h": "tensor",
    "ops.h": "runtime",
    "ops/": "runtime",
    "variable.h": "runtime",
    "function.h": "runtime",
    "control_flow.h": "runtime",
    "memory_plan.h": "runtime",
    "custom_gradient.h": "runtime",
    "gradient_tape.h": "runtime",
    "config.h": "runtime",
    "device.h": "runtime",
    "debugging.h": "runtime",
    "interop.h": "runtime",
    "memory_api.h": "runtime",
    "data/": "data",
    "strings.h": "data",
    "ragged.h": "data",
    "sparse.h": "data",
    "keras.h": "keras",
    "keras/": "keras",
    "tf.h": ANY,
}

# Third-party headers that only some layers use; the start of the name: the layers.
THIRD_PARTY = {
    "oneapi/dnnl/": ["backend/cpu"],
    "dnnl": ["backend/cpu"],
    "hwy/": ["backend/cpu"],
    "CL/": ["backend/opencl"],
    "clblast": ["backend/opencl"],
    "cuda": ["backend/cuda"],
    "cublas": ["backend/cuda"],
    "cudnn": ["backend/cuda"],
    "nvrtc": ["backend/cuda"],
    "nccl": ["distribute"],
    "mpi.h": ["distribute"],
    "zip.h": ["keras"],
    "zlib.h": ["h5", "data"],
    "png.h": ["data"],
    "jpeglib.h": ["data"],
    "re2/": ["data"],
    "flatbuffers/": ["lite"],
}

CLIENTS = ["examples", "bench", "cli", "python"]  # see public headers, and their own
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def reachable(layer):
    """The layer and everything below it."""
    seen, todo = set(), [layer]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += LAYERS[name]
    return seen


def layer_of_path(path):
    """'memory/heap.h' -> 'memory', 'backend/cpu/norm.cpp' -> 'backend/cpu'; None: no layer."""
    parts = path.split("/")
    for depth in (2, 1):
        name = "/".join(parts[:depth])
        if len(parts) > depth and name in LAYERS:
            return name
    return None


def layer_of_public(path):
    """'memory/heap.h' below include/plimsoll -> 'memory'; None: not in the table."""
    for name, layer in PUBLIC.items():
        if path == name or (name.endswith("/") and path.startswith(name)):
            return layer
    return None


def includes(file):
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


class Checker:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.num_files = 0

    def run(self):
        self.check_folder("include", self.check_public)
        self.check_folder("src", self.check_source)
        self.check_folder("tests", self.check_test)
        for client in CLIENTS:
            self.check_folder(client, self.check_client)
        return self.problems

    def check_folder(self, folder, check):
        for file in sorted((self.root / folder).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                self.num_files += 1
                check(file, file.relative_to(self.root).as_posix())

    def problem(self, path, number, text):
        self.problems.append(f"{path}:{number}: {text}")

    def target(self, file, name):
        """What a quoted include names: ('public', path), ('source', path) or ('own', path)."""
        if name.startswith("plimsoll/"):
            return "public", name[len("plimsoll/"):]
        beside = (file.parent / name).resolve()
        if beside.is_file() and beside.is_relative_to(self.root):
            path = beside.relative_to(self.root).as_posix()
            return ("source", path[len("src/"):]) if path.startswith("src/") else ("own", path)
        return "source", name

    def check_public(self, file, path):
        layer = layer_of_public(path.removeprefix("include/plimsoll/"))
        if layer is None:
            self.problem(path, 1, "a public header of no layer; add a row to PUBLIC in "
                                  "tools/check_layers.py")
            return
        allowed = set(LAYERS) if layer == ANY else reachable(layer)
        for number, angled, name in includes(file):
            if angled:
                if "." in name or "/" in name:
                    self.problem(path, number, f"a public header includes <{name}>; only the C++ "
                                               "standard library and plimsoll/ are allowed there")
                continue
            kind, target = self.target(file, name)
            if kind == "own" and target.startswith("include/plimsoll/"):
                kind, target = "public", target.removeprefix("include/plimsoll/")
            if kind != "public":
                self.problem(path, number, f'a public header includes "{name}", which is not public')
                continue
            self.check_layers(path, number, layer, allowed, layer_of_public(target), name)

    def check_source(self, file, path):
        layer = layer_of_path(path.removeprefix("src/"))
        if layer is None:
            self.problem(path, 1, "a folder that is no layer; add it to LAYERS in "
                                  "tools/check_layers.py and to docs/architecture.md")
            return
        allowed = reachable(layer) | set(EXCEPTIONS.get(path, []))
        self.check_includes(file, path, layer, allowed)

    def check_test(self, file, path):
        layer = layer_of_path(path.removeprefix("tests/"))
        layer = TESTED_THROUGH.get(layer, layer)
        if layer is not None:  # tests/oracle and the like may use everything
            self.check_includes(file, path, f"tests of {layer}", reachable(layer))

    def check_includes(self, file, path, layer, allowed):
        for number, angled, name in includes(file):
            if angled:
                self.check_third_party(path, number, layer, name)
                continue
            kind, target = self.target(file, name)
            if kind == "own":
                continue
            found = layer_of_public(target) if kind == "public" else layer_of_path(target)
            self.check_layers(path, number, layer, allowed, found, name)

    def check_third_party(self, path, number, layer, name):
        for start, layers in THIRD_PARTY.items():
            if name.startswith(start) and layer in LAYERS and layer not in layers:
                self.problem(path, number, f"{layer} may not include <{name}>; it belongs to "
                                           f"{', '.join(layers)}")

    def check_layers(self, path, number, layer, allowed, found, name):
        if found is None:
            self.problem(path, number, f'"{name}" belongs to no layer that is known')
        elif found not in allowed:
            self.problem(path, number, f'{layer} may not include "{name}" (layer {found}); allowed: '
                                       f"{', '.join(sorted(allowed))}")

    def check_client(self, file, path):
        for number, angled, name in includes(file):
            if angled:
                continue
            kind, target = self.target(file, name)
            client = path.split("/")[0]
            if kind == "public" and layer_of_public(target) is None:
                self.problem(path, number, f'"{name}" is not a public header that is known')
            elif kind == "source" and not (self.root / client / target).is_file():
                self.problem(path, number, f'{client} may include public headers only, not "{name}"')


def main(arguments):
    here = pathlib.Path(__file__).resolve().parent.parent
    checker = Checker(pathlib.Path(arguments[0]).resolve() if arguments else here)
    problems = checker.run()
    for problem in problems:
        print(problem)
    if problems:
        print(f"layers: {len(problems)} problems in {checker.num_files} files")
        return 1
    print(f"layers: {checker.num_files} files keep to the dependency list")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
