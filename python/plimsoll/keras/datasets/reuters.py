"""News as lists of word numbers: (x_train, y_train), (x_test, y_test)."""

import json

from ._files import find, known_words, load_arrays, numbered, shorter


def load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113,
              start_char=1, oov_char=2, index_from=3):
    import numpy
    file = load_arrays(find(path), "x", "y")
    x, y = file["x"], file["y"]
    order = numpy.arange(len(x))
    numpy.random.RandomState(seed).shuffle(order)
    x, y = shorter(numbered(x[order], start_char, index_from), y[order], maxlen)
    x = known_words(x, num_words, skip_top, oov_char)
    first = int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])


def get_word_index(path="reuters_word_index.json"):
    with open(find(path), encoding="utf-8") as file:
        return json.load(file)
