"""What the documents name exists, and programs in them are built."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_layers


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def lines_of(text):
    """Lines without what differs between a page and a function body: indentation and blank lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(whole, part):
    return any(whole[i:i + len(part)] == part for i in range(len(whole) - len(part) + 1))


class DocsTest(unittest.TestCase):
    def test_programs_in_the_pages_stand_in_examples(self):
        examples = [lines_of(file.read_text(encoding="utf-8"))
                    for file in (ROOT / "examples").glob("*.cpp")]
        for page in ["README.md", "docs/devices.md", "docs/keras.md"]:
            for block in re.findall(r"```cpp\n(.*?)```", read(page), re.DOTALL):
                with self.subTest(page=page, block=block):
                    self.assertTrue(any(contains(file, lines_of(block)) for file in examples),
                                    "this program is in no file of examples/")

    def test_the_devices_page_lists_the_profiles(self):
        rows = re.findall(r'PLIMSOLL_PROFILE\(\s*"([^"]+)",\s*"[^"]+",\s*(\d+),',
                          read("src/backend/sim/profiles.def"))
        self.assertTrue(rows)
        listed = re.findall(r"^\| `([^`]+)` \| ([\d,]+) MiB \|", read("docs/devices.md"), re.MULTILINE)
        self.assertEqual(listed, [(name, f"{int(mib):,}") for name, mib in rows])

    def test_links_lead_somewhere(self):
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
            for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, link=link):
                    self.assertTrue((page.parent / link).exists())

    def test_the_contract_names_tests_that_exist(self):
        sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.cpp"))
        tests = set(re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", sources, re.MULTILINE))
        rows = re.findall(r"^\| (P\d+) \|.*\| (.*) \|$", read("docs/memory_contract.md"), re.MULTILINE)
        self.assertEqual([name for name, _ in rows], [f"P{i}" for i in range(1, 11)])
        for promise, text in rows:
            names = re.findall(r"`([^`]+)`", text)
            self.assertTrue(names or text == "not yet", f"{promise} names no test")
            for name in names:
                with self.subTest(promise=promise, test=name):
                    if name.endswith(".mem"):
                        self.assertTrue((ROOT / "tests/memory" / name).is_file())
                    else:
                        self.assertIn(tuple(name.split(".")), tests)

    def test_the_architecture_lists_the_layers_that_are_checked(self):
        listed = {}
        for names, below in re.findall(r"^\| ((?:`[a-z0-9/]+`(?:, )?)+) \|[^|]*\| ([^|]*)\|$",
                                       read("docs/architecture.md"), re.MULTILINE):
            for name in re.findall(r"`([^`]+)`", names):
                listed[name] = [part for part in below.strip().split(", ") if part]
        self.assertEqual(listed, check_layers.LAYERS)


if __name__ == "__main__":
    unittest.main()
