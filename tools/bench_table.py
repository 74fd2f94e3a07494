#!/usr/bin/env python3
"""Runs a benchmark program, shows its rows as a table as they come, and keeps them as JSON.

    tools/bench_table.py [--json FILE] -- PROGRAM [ARGUMENT...]

The program prints one JSON object per line on stdout: {what, ours, peer, ratio, bar, holds, unit,
note}; bench/rows.h says what they mean. Exit code: 1 if a bar does not hold or the program fails.
"""

import argparse
import json
import math
import signal
import subprocess
import sys
import textwrap

FIELDS = ["what", "ours", "peer", "ratio", "bar", "holds", "unit", "note"]
COLUMNS = [("what", 46), ("ours", 14), ("peer", 14), ("ratio", 9), ("bar", 18), ("holds", 5)]
NUMBERS = {"ours", "peer", "ratio"}


def number(value, unit=""):
    """Four digits that count, and the unit."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        text = str(value)
    elif value == int(value) and abs(value) < 1e15:
        text = f"{int(value):,}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.4g}"
    return f"{text} {unit}".rstrip()


def cells(row):
    holds = {True: "yes", False: "NO", None: "-"}[row["holds"]]
    return {
        "what": row["what"],
        "ours": number(row["ours"], row["unit"]),
        "peer": number(row["peer"], row["unit"]),
        "ratio": number(row["ratio"]),
        "bar": row["bar"] or "-",
        "holds": holds,
    }


def table_lines(texts):
    """One row of the table; what is too long for its column goes on in the next line."""
    wrapped = {name: [texts[name]] if name in NUMBERS else textwrap.wrap(texts[name], width) or [""]
               for name, width in COLUMNS}
    for i in range(max(len(lines) for lines in wrapped.values())):
        line = []
        for name, width in COLUMNS:
            text = wrapped[name][i] if i < len(wrapped[name]) else ""
            line.append(text.rjust(width) if name in NUMBERS else text.ljust(width))
        yield "  ".join(line).rstrip()


def show(row):
    lines = list(table_lines(cells(row)))
    if row["note"]:
        lines += textwrap.wrap(row["note"], 100, initial_indent="    ", subsequent_indent="    ")
    print("\n".join(lines), flush=True)


def read_row(line):
    """The row on a line of output; None if it is something else."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or "what" not in row or "ours" not in row:
        return None
    defaults = {"bar": "", "unit": "", "note": ""}
    return {name: row.get(name, defaults.get(name)) for name in FIELDS}


def run(command):
    """Shows the rows as they come. Returns them and the program's exit code."""
    print("\n".join(table_lines({name: name for name, _ in COLUMNS})))
    print("  ".join("-" * width for _, width in COLUMNS), flush=True)
    rows = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            row = read_row(line)
            if row is None:
                print(line.rstrip("\n"), file=sys.stderr, flush=True)
                continue
            rows.append(row)
            show(row)
    return rows, program.returncode


def how_it_ended(code):
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows there")
    parser.add_argument("program", nargs="+", help="the program and its arguments, after --")
    arguments = parser.parse_args()

    rows, code = run(arguments.program)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
            file.write("\n")

    bars = [row for row in rows if row["holds"] is not None]
    broken = [row["what"] for row in bars if row["holds"] is False]
    print(f"==> {len(bars) - len(broken)} of {len(bars)} bars hold, {len(rows)} rows")
    for what in broken:
        print(f"    does not hold: {what}")
    if code != 0:
        print(f"error: {arguments.program[0]} {how_it_ended(code)}", file=sys.stderr)
    elif not rows:
        print(f"error: {arguments.program[0]} printed no rows", file=sys.stderr)
    return 1 if broken or code != 0 or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
