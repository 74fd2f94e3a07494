"""Pipelines against tf.data: elements per second, on as many threads.

    data.py [--rounds N] [--only TEXT] --python PEERS-PYTHON --own-python PYTHON --module FOLDER

Each number is the best of some processes, those of the two libraries in turns. Prints rows (bench/rows.h).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).with_name("data_cases.py")
BAR = 1.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows with this in their name")
    parser.add_argument("--python", required=True)
    parser.add_argument("--own-python", required=True)
    parser.add_argument("--module", required=True)
    options = parser.parse_args()

    def run(case, library, folder):
        environment, python = dict(os.environ), options.python
        if library == "plimsoll":
            environment["PYTHONPATH"], python = options.module, options.own_python
        done = subprocess.run([python, str(CASES), case, library, folder], env=environment, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(f"{case} of {library} failed:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])["per_s"] if done.stdout else 0.0

    sys.path.insert(0, str(CASES.parent))
    names = [name for name in __import__("data_cases").CASES if options.only in name]
    with tempfile.TemporaryDirectory() as folder:
        run("make", "plimsoll", folder)
        for name in names:
            best = {"plimsoll": 0.0, "tensorflow": 0.0}
            for _ in range(options.rounds):
                for library in best:
                    best[library] = max(best[library], run(name, library, folder))
            ours, peer = best["plimsoll"], best["tensorflow"]
            print(json.dumps({"what": name, "ours": ours, "peer": peer, "ratio": ours / peer, "bar": f">= {BAR}",
                              "holds": ours / peer >= BAR, "unit": "elements/s", "note": ""}), flush=True)


if __name__ == "__main__":
    main()
