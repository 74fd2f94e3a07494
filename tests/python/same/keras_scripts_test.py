"""Programs as beginners of Keras write them: unchanged under TensorFlow and under `python -m plimsoll`, and with
their imports changed to Plimsoll's."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
EXPECTED = {
    "classification.py": ["accuracy is high: True", "predictions agree with it: True", "loaded model agrees: True",
                          "one-hot: (1, 8) (1, 8)"],
    "custom_loop.py": ["weights: 6 parameters: 369", "loss falls: True", "traced once or twice: True", "steps: 64",
                       "shape: (5, 1) close: True"],
    "text.py": ["first words: ['', '[UNK]'] words: 23", "shape: (200, 8) padding: 0",
                "names: ['accuracy', 'loss', 'val_accuracy', 'val_loss']", "learnt: True", "good before bad: True"],
}
# Where the last loss lies, by runs of Keras with other seeds.
LOSSES = {"classification.py": (0.15, 0.75), "custom_loop.py": (0.003, 0.06), "text.py": (0.00005, 0.003)}
# Imports of TensorFlow and Keras, and what a user writes instead.
IMPORTS = [(r"^import tensorflow as tf$", "import plimsoll as tf"), (r"^import keras$", "from plimsoll import keras"),
           (r"^from tensorflow import", "from plimsoll import"), (r"^from tensorflow\.", "from plimsoll."),
           (r"^from keras import", "from plimsoll.keras import")]


@pytest.mark.parametrize("way", ["unchanged", "changed"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_script(name, way, is_plimsoll, tmp_path):
    command = [sys.executable, *(["-m", "plimsoll"] if is_plimsoll and way == "unchanged" else [])]
    file = SCRIPTS / name
    if way == "changed":
        if not is_plimsoll:
            return  # TensorFlow has one way
        text = file.read_text(encoding="utf-8")
        for old, new in IMPORTS:
            text = re.sub(old, new, text, flags=re.MULTILINE)
        assert not re.search(r"^\s*(import|from) (tensorflow|keras)", text, re.MULTILINE)
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([*command, str(file)], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    wanted = {e.split(":")[0] for e in EXPECTED[name]}
    assert [line for line in lines if line.split(":")[0] in wanted] == EXPECTED[name]
    loss = [float(line.split(":")[1]) for line in lines if line.startswith("final loss:")]
    assert len(loss) == 1 and LOSSES[name][0] < loss[0] < LOSSES[name][1]
