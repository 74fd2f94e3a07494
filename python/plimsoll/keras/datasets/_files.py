"""Where datasets stand."""

import os
import zipfile

_SITE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def home():
    return os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")


def find(name, origin=None, folder="datasets"):
    """The path of a file. Raises with the place where it has to be put."""
    if os.path.isabs(name):
        if os.path.exists(name):
            return name
        raise FileNotFoundError(f"{name} is not there")
    path = os.path.join(home(), folder, name)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"{path} is not there, and Plimsoll fetches nothing from the network. Fetch it once with another "
            f"program, from {origin or _SITE + name}, and put it there")
    return path


def load_arrays(path, *wanted):
    """Arrays of an .npz file, by name."""
    from ._pickles import load_npz
    try:
        found = load_npz(path)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no .npz file that can be read: {error}") from error
    for name in wanted:
        if name not in found:
            raise ValueError(f"{path} has to have arrays {', '.join(wanted)}; it has {', '.join(found) or 'none'}")
    return found


def split_rows(x, y, test_split, seed):
    """Shuffled, the last part for testing."""
    import numpy
    order = numpy.arange(len(x))
    numpy.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    first = int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])


def numbered(x, start_char, index_from):
    """Lists of word numbers behind those that are kept for padding, start and unknown words."""
    if start_char is not None:
        return [[start_char, *(w + index_from for w in row)] for row in x]
    return [[w + index_from for w in row] for row in x]


def shorter(x, y, maxlen):
    """The rows with fewer than maxlen words, and their labels."""
    if not maxlen:
        return list(x), y
    kept = [i for i, row in enumerate(x) if len(row) < maxlen]
    if not kept:
        raise ValueError(f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
                         "Increase maxlen.")
    return [x[i] for i in kept], y[kept]


def known_words(x, num_words, skip_top, oov_char):
    """With the words that are too rare or too frequent replaced, or left out."""
    import numpy
    if not num_words:
        num_words = max(map(max, x))
    if oov_char is not None:
        x = [[w if skip_top <= w < num_words else oov_char for w in row] for row in x]
    else:
        x = [[w for w in row if skip_top <= w < num_words] for row in x]
    made = numpy.empty(len(x), dtype="object")
    made[:] = x
    return made
