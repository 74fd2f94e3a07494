"""tools/bench_table.py: the table, the JSON file and the exit code."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "bench_table.py"


def row(**fields):
    return {"what": "a row", "ours": 2.0, "peer": 4.0, "ratio": 0.5, "bar": "<= 1", "holds": True,
            "unit": "ms", "note": "", **fields}


def run(*lines, code=0):
    """Runs the tool on a program that prints `lines`: (exit code, stdout, stderr, rows)."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        program = f"import sys; print({text!r}); sys.exit({code})"
        done = subprocess.run([sys.executable, TOOL, "--json", out, "--", sys.executable, "-c", program],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr, json.loads(out.read_text())["rows"]


class BenchTableTest(unittest.TestCase):
    def test_all_bars_hold(self):
        code, out, _, rows = run(row(), row(bar="", holds=None, peer=None, ratio=None))
        self.assertEqual(code, 0)
        self.assertIn("2 ms", out)
        self.assertIn("4 ms", out)
        self.assertIn("1 of 1 bars hold, 2 rows", out)
        self.assertEqual(rows[0], row())
        self.assertEqual(list(rows[0]), ["what", "ours", "peer", "ratio", "bar", "holds", "unit", "note"])

    def test_a_bar_that_does_not_hold_fails(self):
        code, out, _, rows = run(row(), row(what="too slow", holds=False))
        self.assertEqual(code, 1)
        self.assertIn("does not hold: too slow", out)
        self.assertEqual(len(rows), 2)

    def test_a_program_that_fails_fails_and_keeps_its_rows(self):
        code, _, err, rows = run(row(), code=3)
        self.assertEqual(code, 1)
        self.assertIn("exit code 3", err)
        self.assertEqual(len(rows), 1)

    def test_other_output_is_passed_on(self):
        code, out, err, rows = run("warming up", row())
        self.assertEqual((code, len(rows)), (0, 1))
        self.assertIn("warming up", err)
        self.assertNotIn("warming up", out)

    def test_no_rows_is_an_error(self):
        code, _, err, _ = run("nothing")
        self.assertEqual(code, 1)
        self.assertIn("printed no rows", err)


if __name__ == "__main__":
    unittest.main()
