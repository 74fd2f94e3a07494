"""Attention: projections, masks in every place, scores."""

import numpy as np

from keras_case import Case, floats

QUERY = np.array([[1, 1, 1, 0], [1, 0, 1, 1]], dtype=bool)              # [batch, tq]
KEYS = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], dtype=bool)        # [batch, tk]
EMPTY = np.array([[0, 0, 0, 0, 0], [0, 1, 1, 1, 1]], dtype=bool)       # a row of the batch without keys
PAIRS = np.random.default_rng(4).integers(0, 2, (2, 4, 5)).astype(bool)


def multi_head(k, **options):
    return k.layers.MultiHeadAttention(**{"num_heads": 2, "key_dim": 3, **options})


def multi_head_cases(q, v, key):
    def case(suffix, named=None, options=None, carried=None, inputs=q, **layer):
        return Case(f"mha_{suffix}", lambda k: multi_head(k, **layer), inputs, named={"value": v, **(named or {})},
                    options=options or {}, carried=carried or {})

    scores = {"return_attention_scores": True}
    causal = {"use_causal_mask": True}
    yield case("plain")
    yield case("key", named={"key": key})
    yield case("value_dim", value_dim=5, named={"key": key})
    yield case("no_bias", use_bias=False)
    yield case("output_shape", output_shape=7)
    yield case("output_shapes", output_shape=(2, 3))
    yield case("gate", use_gate=True)
    yield case("self", named={"value": q})
    for suffix, options in [("", {}), ("_scores", scores)]:
        yield case("causal" + suffix, options={**causal, **options})
        yield case("mask" + suffix, named={"attention_mask": PAIRS}, options=options)
        yield case("mask_int" + suffix, named={"attention_mask": PAIRS.astype("int32")}, options=options)
        yield case("mask_causal" + suffix, named={"attention_mask": PAIRS}, options={**causal, **options})
        yield case("mask_heads" + suffix, named={"attention_mask": np.stack([PAIRS, ~PAIRS], 1)}, options=options)
        yield case("value_mask" + suffix, named={"value_mask": KEYS}, options=options)
        yield case("key_mask" + suffix, named={"key": key, "key_mask": KEYS}, options=options)
        yield case("both_masks" + suffix, named={"key": key, "key_mask": KEYS, "value_mask": KEYS[::-1].copy(),
                                                 "attention_mask": PAIRS}, options=options)
        yield case("empty_rows" + suffix, named={"value_mask": EMPTY}, options=options)
        yield case("empty_rows_causal" + suffix, named={"value_mask": KEYS}, options={**causal, **options})
        yield case("query_mask" + suffix, carried={"inputs": QUERY}, options=options)
        yield case("query_mask_named" + suffix, named={"query_mask": QUERY}, options=options)
        yield case("carried" + suffix, carried={"inputs": QUERY, "value": KEYS}, options={**causal, **options})
        yield case("carried_key" + suffix, named={"key": key}, carried={"key": KEYS, "value": KEYS[::-1].copy()},
                   options=options)
        yield case("window" + suffix, sliding_window=2, options=options)
        yield case("window_causal" + suffix, sliding_window=3, options={**causal, **options})
        yield case("long_query" + suffix, inputs=floats(2, 7, 6), named={"value_mask": KEYS},
                   options={**causal, **options})
        yield Case(f"mha_dropout{suffix}", lambda k: multi_head(k, dropout=0.3, seed=2), q,
                   named={"value": v, "value_mask": EMPTY}, options=options, random_in_training=True)
    yield case("regularizers", kernel_regularizer="l2", bias_regularizer="l1", activity_regularizer="l2",
               kernel_constraint="max_norm", kernel_initializer="he_normal", bias_initializer="ones", name="mine")
    far, wide = floats(2, 3, 4, 6), floats(2, 3, 5, 6, seed=1)
    for suffix, options in [("", {}), ("_scores", scores)]:
        yield Case("mha_axes" + suffix, lambda k: multi_head(k, attention_axes=(2,)), far, named={"value": wide},
                   options=options)
        yield Case("mha_axes_negative" + suffix, lambda k: multi_head(k, attention_axes=(-2,)), far,
                   named={"value": wide}, options=options)
        yield Case("mha_two_axes" + suffix, lambda k: multi_head(k), far, named={"value": wide[:, :2]},
                   options=options)
        yield Case("mha_two_axes_mask" + suffix, lambda k: multi_head(k), far, named={
            "value": wide[:, :2], "attention_mask": np.random.default_rng(3).integers(
                0, 2, (2, 3, 4, 2, 5)).astype(bool)}, options=options)
    yield Case("mha_mixed", lambda k: multi_head(k, dtype="mixed_bfloat16"), q, named={"value": v},
               tolerance=3e-2, gradients=False)


def grouped_cases(q, v, key):
    def case(suffix, named=None, options=None, carried=None, **layer):
        return Case(f"gqa_{suffix}", lambda k: k.layers.GroupQueryAttention(**{
            "head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2, **layer}), q,
            named={"value": v, **(named or {})}, options=options or {}, carried=carried or {})

    yield case("plain")
    yield case("one", num_key_value_heads=1)
    yield case("key", named={"key": key})
    yield case("no_bias", use_bias=False)
    yield case("gate", use_gate=True)
    yield case("regularizers", kernel_regularizer="l2", activity_regularizer="l2")
    for suffix, options in [("", {}), ("_scores", {"return_attention_scores": True})]:
        yield case("causal" + suffix, options={"use_causal_mask": True, **options})
        yield case("mask" + suffix, named={"attention_mask": PAIRS}, options=options)
        yield case("masks" + suffix, named={"key": key, "query_mask": QUERY, "value_mask": KEYS,
                                            "key_mask": KEYS[::-1].copy()}, options=options)
        yield case("empty_rows" + suffix, named={"value_mask": EMPTY}, options=options)
        yield case("carried" + suffix, carried={"inputs": QUERY, "value": KEYS}, options=options)
        yield case("window" + suffix, sliding_window=2, options=options)
        case_ = case("dropout" + suffix, dropout=0.2, options=options)
        case_.random_in_training = True
        yield case_


def attention_cases(q, v, key):
    for kind, layers in [("Attention", [{}, {"use_scale": True}, {"score_mode": "concat"},
                                        {"score_mode": "concat", "use_scale": True}]),
                         ("AdditiveAttention", [{}, {"use_scale": False}])]:
        for layer in layers:
            label = "_".join([kind.lower(), *(str(value) for value in layer.values())])

            def case(suffix, inputs, mask=None, kind=kind, layer=layer, label=label, **options):
                return Case(f"{label}_{suffix}", lambda k: getattr(k.layers, kind)(**layer), inputs, mask=mask,
                            options=options)
            for suffix, options in [("", {}), ("_scores", {"return_attention_scores": True})]:
                yield case("plain" + suffix, [q, v], **options)
                yield case("key" + suffix, [q, v, key], **options)
                yield case("causal" + suffix, [q, v], use_causal_mask=True, **options)
                yield case("masks" + suffix, [q, v], mask=[QUERY, KEYS], **options)
                yield case("value_mask" + suffix, [q, v, key], mask=[None, KEYS, None], **options)
                yield case("query_mask" + suffix, [q, v], mask=[QUERY, None], **options)
                yield case("masks_causal" + suffix, [q, v], mask=[QUERY, np.roll(KEYS, 0) | [1, 0, 0, 0, 0]],
                           use_causal_mask=True, **options)
        yield Case(f"{kind.lower()}_dropout", lambda k, kind=kind: getattr(k.layers, kind)(dropout=0.4, seed=3),
                   [q, v], random_in_training=True)
    yield Case("attention_empty_rows", lambda k: k.layers.Attention(), [q, v], mask=[None, EMPTY], gradients=False)
    yield Case("attention_other_value", lambda k: k.layers.Attention(), [q, floats(2, 5, 3), key])


def cases():
    q, v, key = floats(2, 4, 6), floats(2, 5, 6, seed=1), floats(2, 5, 6, seed=2)
    yield from multi_head_cases(q, v, key)
    yield from grouped_cases(q, v, key)
    yield from attention_cases(q, v, key)
