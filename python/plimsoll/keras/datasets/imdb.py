"""Reviews of films as lists of word numbers: (x_train, y_train), (x_test, y_test)."""

import json

from ._files import find, known_words, load_arrays, numbered, shorter


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
              index_from=3, **kwargs):
    import numpy
    file = load_arrays(find(path), "x_train", "y_train", "x_test", "y_test")
    random = numpy.random.RandomState(seed)
    rows, labels = [], []
    for part in ("train", "test"):
        x, y = file["x_" + part], file["y_" + part]
        order = numpy.arange(len(x))
        random.shuffle(order)
        x, y = shorter(numbered(x[order], start_char, index_from), y[order], maxlen)
        rows.append(x)
        labels.append(y)
    first = len(rows[0])
    x, y = known_words(rows[0] + rows[1], num_words, skip_top, oov_char), numpy.concatenate(labels)
    return (x[:first], y[:first]), (x[first:], y[first:])


def get_word_index(path="imdb_word_index.json"):
    with open(find(path), encoding="utf-8") as file:
        return json.load(file)
