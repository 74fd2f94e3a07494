"""The scripts: installing only what is missing, clear messages, arguments. Nothing is installed."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Stand-ins: dpkg-query knows the packages in $INSTALLED, apt-get writes down how it was called.
FAKES = {
    "dpkg-query": 'for p in "$@"; do [[ " $INSTALLED " == *" $p "* ]] && printf "installed:%s " "$p"; done\n'
                  "exit 1",
    "apt-get": 'echo "apt-get $*" >> "$CALLS"; [[ -z $OFFLINE ]] || { echo "E: no network"; exit 100; }',
    "sudo": 'echo "sudo" >> "$CALLS"; [[ $1 == -n ]] && shift; exec "$@"',
}


def run(command, **environment):
    """Runs bash code with the stand-ins: (exit code, stdout, stderr, calls)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FAKES.items():
            file = pathlib.Path(folder) / name
            file.write_text(f"#!/bin/bash\n{text}\n")
            file.chmod(0o755)
        calls = pathlib.Path(folder) / "calls"
        calls.touch()
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "CALLS": str(calls),
               "INSTALLED": "", "OFFLINE": "", **environment}
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)
        return done.returncode, done.stdout, done.stderr, calls.read_text()


def need(*packages, **environment):
    return run(f"set -euo pipefail; source scripts/lib.sh; need_packages {' '.join(packages)}",
               **environment)


class ScriptsTest(unittest.TestCase):
    def test_nothing_is_called_when_nothing_is_missing(self):
        code, out, _, calls = need("g++", "cmake", INSTALLED="cmake g++")
        self.assertEqual((code, out, calls), (0, "", ""))

    def test_only_what_is_missing_is_installed(self):
        code, out, _, calls = need("g++", "cmake", "mold", INSTALLED="cmake g++-12")
        self.assertEqual(code, 0)
        self.assertIn("installing packages: g++ mold\n", out)
        self.assertIn(" update", calls)
        self.assertTrue(calls.endswith("install -y --no-install-recommends g++ mold\n"), calls)

    def test_offline_is_said_clearly(self):
        code, _, err, _ = need("mold", OFFLINE="yes")
        self.assertEqual(code, 1)
        self.assertIn("error: these packages could not be installed: mold", err)
        self.assertIn("offline", err)

    @unittest.skipIf(os.geteuid() == 0, "root has all rights")
    def test_without_rights_the_packages_are_named(self):
        code, _, err, calls = run("sudo() { false; }; command() { [[ $2 != sudo ]]; }; "
                                  "source scripts/lib.sh; need_packages mold")
        self.assertEqual((code, calls), (1, ""))
        self.assertIn("takes root or sudo", err)
        self.assertIn("apt-get install mold", err)

    def test_help_and_unknown_arguments(self):
        for script in ("quickstart", "test", "bench"):
            with self.subTest(script):
                code, out, _, _ = run(f"scripts/{script} --help")
                self.assertEqual(code, 0)
                self.assertIn(f"scripts/{script}", out)
                code, _, err, _ = run(f"scripts/{script} --nonsense")
                self.assertEqual(code, 1)
                self.assertIn("--nonsense", err)

    def test_bench_names_the_families(self):
        code, out, _, _ = run("scripts/bench --list")
        self.assertEqual(code, 0)
        code, _, err, _ = run("scripts/bench nonsense")
        self.assertEqual(code, 1)
        self.assertIn("there are: " + ", ".join(out.split()), err)


if __name__ == "__main__":
    unittest.main()
