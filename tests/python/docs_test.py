"""Every Python block in the documentation runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for i, match in enumerate(BLOCK.finditer(file.read_text(encoding="utf-8"))):
            yield pytest.param(match.group(1), id=f"{file.name}-{i}")


def test_the_pages_have_blocks():
    """So that a page that is renamed, or a block of another form, is missed."""
    found = {block.id.split("-")[0] for block in blocks()}
    questions = {file.name for file in (ROOT / "docs" / "questions").glob("*.md")}
    assert len(questions) >= 5 and questions <= found
    assert {"README.md", "python.md", "keras_in_python.md", "coming_from_tensorflow.md"} <= found
    for file in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = file.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == len(re.findall(r"^[ \t]*```[ \t]*(?:python|py)\b", text, re.MULTILINE)), file


@pytest.mark.parametrize("text", list(blocks()))
def test_block(program, tmp_path, text):
    file = tmp_path / "block.py"
    file.write_text(text, encoding="utf-8")
    program.file(file)
