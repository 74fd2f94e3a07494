"""The Python front against TensorFlow and PyTorch: import, memory, the first step, what an op costs, steps of models.

    python.py [--rounds N] [--steps N] [--models mlp,cnn,none] --python PEERS-PYTHON --own-python OURS --module FOLDER

Each number is the best of some processes, those of the three libraries one after the other; for the steps of models
the processes stay, and rounds take turns. Prints rows (bench/rows.h).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

CASES = pathlib.Path(__file__).with_name("python_cases.py")
MODELS = pathlib.Path(__file__).with_name("python_models.py")
BATCHES = {"mlp": 128, "cnn": 128, "lstm": 64, "transformer": 32, "mobilenet_v2": 8, "resnet50": 4}
SECONDS = 1.0  # about as long is a round of steps


class Runner:
    def __init__(self, options):
        self.options = options

    def python_of(self, name):
        """The interpreter for a library, and its environment."""
        if name in ("plimsoll", "numpy", "both"):
            return self.options.own_python, {**os.environ, "PYTHONPATH": self.options.module}
        return self.options.python, dict(os.environ)

    def run(self, kind, name):
        python, environment = self.python_of(name)
        done = subprocess.run([python, str(CASES), kind, name], env=environment, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(f"{kind} {name} failed:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def best(self, kind, names):
        """The smallest of each number, by name; rounds go through all names."""
        found = {name: {} for name in names}
        for _ in range(self.options.rounds):
            for name in names:
                for key, value in self.run(kind, name).items():
                    found[name][key] = min(value, found[name].get(key, float("inf")))
        return found


class Steps:
    """A process that takes training steps of a model."""

    def __init__(self, runner, framework, model):
        python, environment = runner.python_of(framework)
        self.name = f"{framework} {model}"
        self.process = subprocess.Popen([python, str(MODELS), framework, model, str(BATCHES[model])], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("ready")
        self.take(2)
        fixed = runner.options.steps
        self.num = fixed or max(1, int(SECONDS / self.take(1)))
        self.best = float("inf")

    def answer(self, want=None):
        for line in self.process.stdout:
            if want is None or line.strip() == want:
                return line
        sys.exit(f"{self.name} ended without an answer")

    def take(self, num):
        """Seconds for each of so many steps."""
        print(num, file=self.process.stdin, flush=True)
        return float(self.answer().split()[0]) / num

    def round(self):
        self.best = min(self.best, self.take(self.num))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure_models(runner, models, peers):
    for model in models:
        steps = {name: Steps(runner, name, model) for name in ("plimsoll", *peers)}
        for _ in range(runner.options.rounds):
            for one in steps.values():
                one.round()
        for peer, title in peers.items():
            row(f"step of {model}, batch {BATCHES[model]}", steps["plimsoll"].best * 1e3, steps[peer].best * 1e3, "ms",
                None, title)
        for one in steps.values():
            one.end()


def row(what, ours, peer, unit, most=None, note="", bar=None, holds=None):
    ratio = ours / peer if peer else None
    if most is not None:
        bar, holds = f"<= {most:.4g}", ratio <= most
    print(json.dumps({"what": what, "ours": ours, "peer": peer, "ratio": ratio, "bar": bar or "",
                      "holds": holds, "unit": unit, "note": note}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=0, help="of a model in a round; 0: about a second of them")
    parser.add_argument("--models", default=",".join(BATCHES), help="or none")
    parser.add_argument("--python", required=True)
    parser.add_argument("--own-python", required=True)
    parser.add_argument("--module", required=True)
    runner = Runner(parser.parse_args())

    models = [m for m in runner.options.models.split(",") if m != "none"]
    for model in models:
        if model not in BATCHES:
            parser.error(f"no model is called {model!r}; there are {', '.join(BATCHES)}, or none")
    peers = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
    imports = runner.best("import", ["plimsoll", "numpy", "both", *peers])
    ours, numpy, both = imports["plimsoll"], imports["numpy"], imports["both"]
    extra = both["ms"] - numpy["ms"]
    row("import, beyond numpy's", extra, None, "ms", bar="<= 50 ms", holds=extra <= 50,
        note=f"numpy {numpy['ms']:.0f} ms, both {both['ms']:.0f} ms, plimsoll alone {ours['ms']:.0f} ms")
    more = both["rss_mb"] - numpy["rss_mb"]
    row("memory after import, beyond numpy's", more, None, "MB", bar="<= 30 MB", holds=more <= 30)
    row("memory after import", ours["rss_mb"], imports["tensorflow"]["rss_mb"], "MB", 1 / 8, "TensorFlow")
    row("memory after import", ours["rss_mb"], imports["torch"]["rss_mb"], "MB", None, "PyTorch")

    steps = runner.best("step", ["plimsoll", *peers])
    row("start to the end of the first step", steps["plimsoll"]["ms"], steps["tensorflow"]["ms"], "ms", 1 / 8,
        "TensorFlow")
    row("start to the end of the first step", steps["plimsoll"]["ms"], steps["torch"]["ms"], "ms", 1 / 4,
        "PyTorch")

    ops = runner.best("ops", ["plimsoll", *peers])
    for what, ours in ops["plimsoll"].items():
        row(f"eager {what}", ours, ops["tensorflow"][what], "ns", 1 / 4, "TensorFlow")
        row(f"eager {what}", ours, ops["torch"][what], "ns", 1, "PyTorch")
    measure_models(runner, models, peers)


if __name__ == "__main__":
    main()
