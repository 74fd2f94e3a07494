"""Preprocessing: numbers scaled, normalised, sorted into bins and encoded."""

import numpy as np

from keras_case import Case, floats


def ids(*shape, high=5, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype("int32")


def numeric_cases():
    def case(name, make, inputs, **options):
        return Case(name, make, inputs, **{"passes_training": False, "random_weights": False, **options})

    x = floats(4, 3, low=-3, high=5)
    yield case("rescaling", lambda k: k.layers.Rescaling(1 / 255, offset=-0.5), x)
    yield case("rescaling_list", lambda k: k.layers.Rescaling([1.0, 2.0, 3.0], offset=[0.0, 1.0, -1.0]), x)
    yield case("rescaling_ints", lambda k: k.layers.Rescaling(0.5), ids(4, 3), gradients=False)

    yield case("normalization_given", lambda k: k.layers.Normalization(mean=2.0, variance=4.0), x)
    yield case("normalization_list", lambda k: k.layers.Normalization(mean=[1.0, 2.0, 3.0],
                                                                      variance=[1.0, 0.0, 4.0]), x)
    yield case("normalization_invert", lambda k: k.layers.Normalization(mean=[1.0, 2.0, 3.0],
                                                                        variance=[1.0, 2.0, 4.0], invert=True), x)
    yield case("normalization_no_axis", lambda k: k.layers.Normalization(axis=None, mean=1.0, variance=3.0), x)
    for name, axis in [("last", -1), ("none", None), ("first", 1), ("two", (1, -1))]:
        yield case(f"normalization_adapt_{name}", lambda k, axis=axis: k.layers.Normalization(axis=axis),
                   floats(5, 3, 4), adapt=floats(50, 3, 4, seed=3, low=-2, high=6))
    yield case("normalization_adapt_invert", lambda k: k.layers.Normalization(invert=True), x,
               adapt=floats(50, 3, seed=3, low=-2, high=6))
    yield case("normalization_fresh", lambda k: k.layers.Normalization(), x)

    for mode in ["multi_hot", "one_hot", "count"]:
        for suffix, shape in [("", (4, 3)), ("_row", (4,)), ("_one", (4, 1)), ("_deep", (2, 3, 4))]:
            yield case(f"category_encoding_{mode}{suffix}", lambda k, mode=mode: k.layers.CategoryEncoding(
                5, output_mode=mode), ids(*shape), gradients=False,
                partial=suffix != "_deep" or mode == "one_hot")  # the shape that Keras tells is not the one it gives
    yield case("category_encoding_weights", lambda k: k.layers.CategoryEncoding(5, output_mode="count"),
               ids(2, 3, 4), named={"count_weights": floats(2, 3, 4)}, gradients=False)

    bounds = [-1.0, 0.0, 0.5, 2.0]
    edges = np.array([[-1.0, -2.0, 0.0], [0.5, 0.4999, 2.0], [7.0, -0.0, 1.0]], dtype="float32")
    for mode in ["int", "one_hot", "multi_hot", "count"]:
        yield case(f"discretization_{mode}", lambda k, mode=mode: k.layers.Discretization(
            bin_boundaries=bounds, output_mode=mode), edges, gradients=False)
    yield case("discretization_ints", lambda k: k.layers.Discretization(bin_boundaries=[1.0, 3.0]), ids(4, 3),
               gradients=False)
    for num, size in [(4, 30), (4, 1000), (10, 5000)]:
        yield case(f"discretization_adapt_{num}_{size}", lambda k, num=num: k.layers.Discretization(num_bins=num), x,
                   adapt=floats(size, 3, seed=8, low=-4, high=6), gradients=False)
    yield case("discretization_adapt_epsilon", lambda k: k.layers.Discretization(num_bins=3, epsilon=0.1), x,
               adapt=floats(70, 3, seed=8, low=-4, high=6), gradients=False)


def lookup_cases():
    words = np.array([["ape", "bear", "cat"], ["cat", "", "dog"], ["emu", "cat", "cat"], ["[UNK]", "ape", "bear"]])
    numbers = np.array([[7, 12, 9], [12, 0, -1], [3, 12, 9]], dtype="int64")
    for kind, x, vocabulary, mask in [("StringLookup", words, ["bear", "cat", "ape"], ""),
                                      ("IntegerLookup", numbers, [12, 7, 9], 0)]:
        def case(suffix, inputs=x, adapt=None, kind=kind, **options):
            return Case(f"{kind.lower()}_{suffix}", lambda k: getattr(k.layers, kind)(**options), inputs, adapt=adapt,
                        gradients=False, passes_training=False, random_weights=False)

        yield case("plain", vocabulary=vocabulary)
        yield case("mask", vocabulary=vocabulary, mask_token=mask)
        yield case("special", vocabulary=[mask, "[UNK]" if mask == "" else -1, *vocabulary], mask_token=mask)
        yield case("invert", inputs=np.array([[0, 1, 2], [3, 4, 9]]), vocabulary=vocabulary, invert=True)
        yield case("invert_mask", inputs=np.array([[0, 1, 2], [3, 4, 9]]), vocabulary=vocabulary, invert=True,
                   mask_token=mask)
        for mode in ["one_hot", "multi_hot", "count"]:
            yield case(mode, vocabulary=vocabulary, output_mode=mode)
            yield case(f"{mode}_mask_padded", vocabulary=vocabulary, output_mode=mode, mask_token=mask,
                       max_tokens=7, pad_to_max_tokens=True)
        yield case("tf_idf", vocabulary=vocabulary, output_mode="tf_idf", idf_weights=[0.5, 0.25, 2.0])
        yield case("adapt", adapt=x)
        yield case("adapt_mask", adapt=x, mask_token=mask, max_tokens=4)
        yield case("adapt_count", adapt=x, output_mode="count")
        yield case("adapt_tf_idf", adapt=x, output_mode="tf_idf")
        yield case("adapt_tf_idf_padded", adapt=x, output_mode="tf_idf", max_tokens=12, pad_to_max_tokens=True)
        yield case("row", inputs=x[0], vocabulary=vocabulary)
    yield case("oov", vocabulary=[12, 9], num_oov_indices=3)


def text_cases():
    texts = np.array(["The cat sat, on the MAT.", "a Dog; the dog!", "", "it's a-cat\tthe  end"])
    words = ["the", "cat", "dog", "a"]

    def case(suffix, inputs=texts, adapt=None, **options):
        return Case(f"text_vectorization_{suffix}", lambda k: k.layers.TextVectorization(**options), inputs,
                    adapt=adapt, gradients=False, passes_training=False, random_weights=False)

    yield case("length", vocabulary=words, output_sequence_length=8)
    yield case("short", vocabulary=words, output_sequence_length=3)
    yield case("column", inputs=texts[:, None], vocabulary=words, output_sequence_length=4)
    yield case("lower", vocabulary=words, standardize="lower", output_sequence_length=5)
    yield case("strip", vocabulary=words, standardize="strip_punctuation", output_sequence_length=5)
    yield case("as_it_is", vocabulary=words, standardize=None, output_sequence_length=5)
    yield case("character", vocabulary=list("thea"), split="character", output_sequence_length=9)
    yield case("ngrams", vocabulary=[*words, "the cat", "a dog"], ngrams=2, output_sequence_length=12)
    yield case("ngrams_only", vocabulary=["the cat", "the dog"], ngrams=(2,), output_sequence_length=12)
    for mode in ["multi_hot", "count"]:
        yield case(mode, vocabulary=words, output_mode=mode)
        yield case(mode + "_padded", vocabulary=words, output_mode=mode, max_tokens=9, pad_to_max_tokens=True)
    yield case("tf_idf", vocabulary=words, output_mode="tf_idf", idf_weights=[0.1, 0.2, 0.3, 0.4])
    yield case("adapt", adapt=texts, output_sequence_length=6)
    yield case("adapt_few", adapt=texts, max_tokens=4, output_sequence_length=6)
    yield case("adapt_tf_idf", adapt=texts, output_mode="tf_idf")


def cases():
    yield from numeric_cases()
    yield from lookup_cases()
    yield from text_cases()
