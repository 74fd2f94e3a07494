"""Recurrent layers: every option, masks, states in and out."""

import numpy as np

from keras_case import Case, floats

MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)      # padded
HOLES = np.array([[0, 1, 0, 1, 1], [1, 0, 0, 1, 0], [0, 0, 0, 0, 0]], dtype=bool)
KINDS = ["LSTM", "GRU", "SimpleRNN"]
UNITS = 4


def states(kind, units=UNITS, batch=3):
    num = 2 if kind == "LSTM" else 1
    return [floats(batch, units, seed=10 + i) for i in range(num)]


def layer_cases(kind, x):
    def case(suffix, named=None, mask=None, **options):
        return Case(f"{kind.lower()}_{suffix}", lambda k: getattr(k.layers, kind)(UNITS, **options), x,
                    named=named or {}, mask=mask)

    initial = {"initial_state": states(kind)}
    yield case("plain")
    yield case("sequences", return_sequences=True)
    yield case("state", return_state=True)
    yield case("all", return_sequences=True, return_state=True)
    yield case("backwards", go_backwards=True, return_sequences=True, return_state=True)
    yield case("backwards_last", go_backwards=True)
    yield case("initial", named=initial, return_sequences=True, return_state=True)
    yield case("initial_last", named=initial)
    yield case("mask", mask=MASK, return_sequences=True, return_state=True)
    yield case("mask_last", mask=MASK)
    yield case("mask_zero", mask=MASK, zero_output_for_mask=True, return_sequences=True, return_state=True)
    yield case("mask_zero_last", mask=MASK, zero_output_for_mask=True)
    yield case("holes", mask=HOLES, return_sequences=True, return_state=True)
    yield case("holes_initial", mask=HOLES, named=initial, return_sequences=True, return_state=True)
    yield case("holes_initial_last", mask=HOLES, named=initial, return_state=True)
    yield case("holes_backwards", mask=HOLES, go_backwards=True, return_sequences=True, return_state=True)
    yield case("holes_backwards_zero", mask=HOLES, go_backwards=True, return_sequences=True,
               zero_output_for_mask=True)
    yield case("unroll", unroll=True, return_sequences=True, return_state=True)
    yield case("no_bias", use_bias=False, return_sequences=True)
    yield case("relu", activation="relu", return_sequences=True, return_state=True)
    yield case("no_activation", activation=None, return_state=True)
    yield case("activation", activation="softsign", return_sequences=True, return_state=True)
    yield case("activation_last", activation="softsign")
    yield case("activation_unroll", activation="softsign", unroll=True, return_sequences=True, mask=HOLES)
    yield case("activation_unroll_last", activation="softsign", unroll=True, go_backwards=True, mask=HOLES)
    yield case("activation_backwards", activation="elu", go_backwards=True, return_sequences=True)
    yield case("activation_holes", activation="elu", mask=HOLES, named=initial, return_sequences=True,
               return_state=True)
    yield case("activation_holes_last", activation="elu", mask=HOLES, named=initial)
    yield case("activation_holes_zero", activation="elu", mask=HOLES, zero_output_for_mask=True,
               return_sequences=True, go_backwards=True)
    yield case("activation_holes_zero_last", activation="elu", mask=HOLES, zero_output_for_mask=True)
    yield case("regularizers", kernel_regularizer="l1", recurrent_regularizer="l2", bias_regularizer="l2",
               kernel_constraint="non_neg", recurrent_constraint="max_norm", bias_constraint="unit_norm",
               kernel_initializer="he_normal", recurrent_initializer="zeros", bias_initializer="ones",
               name="mine", trainable=False)
    yield Case(f"{kind.lower()}_dropout", lambda k: getattr(k.layers, kind)(
        UNITS, dropout=0.3, recurrent_dropout=0.2, seed=3, return_sequences=True), x, random_in_training=True)
    yield Case(f"{kind.lower()}_int_mask", lambda k: getattr(k.layers, kind)(UNITS, return_sequences=True), x,
               mask=MASK.astype("int32"))
    yield Case(f"{kind.lower()}_mixed", lambda k: getattr(k.layers, kind)(
        UNITS, return_sequences=True, return_state=True, dtype="mixed_bfloat16"), x, tolerance=3e-2,
        gradients=False)
    if kind != "SimpleRNN":
        yield case("activity", activity_regularizer="l2", return_sequences=True)
        yield case("recurrent_activation", recurrent_activation="hard_sigmoid", return_sequences=True)
    if kind == "LSTM":
        yield case("no_forget_bias", unit_forget_bias=False, return_sequences=True)
    if kind == "GRU":
        for mask in (None, HOLES):
            yield case(f"reset_before{'' if mask is None else '_holes'}", reset_after=False, mask=mask,
                       return_sequences=True, return_state=True)
        yield case("reset_before_activation", reset_after=False, activation="elu", return_sequences=True)
        yield case("reset_before_no_bias", reset_after=False, use_bias=False, activation="elu")
        yield case("no_bias_activation", use_bias=False, activation="elu")


def cell_cases(x):
    for kind in KINDS:
        yield Case(f"cell_{kind.lower()}", lambda k, kind=kind: getattr(k.layers, kind + "Cell")(UNITS),
                   x[:, 0], named={"states": states(kind)})
        yield Case(f"cell_{kind.lower()}_options", lambda k, kind=kind: getattr(k.layers, kind + "Cell")(
            UNITS, activation="relu", use_bias=False, dropout=0.2, recurrent_dropout=0.1, seed=1,
            kernel_regularizer="l2"), x[:, 0], named={"states": states(kind)}, random_in_training=True)
        for name, options, mask in [("", {}, None), ("_all", dict(return_sequences=True, return_state=True), None),
                                    ("_holes", dict(return_sequences=True, return_state=True), HOLES),
                                    ("_unroll", dict(return_sequences=True, unroll=True), None),
                                    ("_backwards", dict(return_sequences=True, go_backwards=True), HOLES)]:
            yield Case(f"rnn_{kind.lower()}{name}", lambda k, kind=kind, o=options: k.layers.RNN(
                getattr(k.layers, kind + "Cell")(UNITS), **o), x, mask=mask)
    yield Case("stacked", lambda k: k.layers.StackedRNNCells(
        [k.layers.LSTMCell(4), k.layers.GRUCell(3)]), x[:, 0],
        named={"states": [states("LSTM"), states("GRU", 3)]}, build_by_call=False)

    def stack(k, **options):
        return k.layers.RNN([k.layers.LSTMCell(4), k.layers.GRUCell(3), k.layers.SimpleRNNCell(2)], **options)
    yield Case("rnn_stacked", lambda k: stack(k), x)
    yield Case("rnn_stacked_all", lambda k: stack(k, return_sequences=True, return_state=True), x)
    yield Case("rnn_stacked_holes", lambda k: stack(k, return_sequences=True, return_state=True), x, mask=HOLES)


def wrapper_cases(x):
    for kind in KINDS:
        for mode in ["concat", "sum", "mul", "ave", None]:
            for name, options, mask in [
                ("", {}, None), ("_all", dict(return_sequences=True, return_state=True), None),
                ("_holes", dict(return_sequences=True), HOLES), ("_holes_last", dict(return_state=True), HOLES),
            ]:
                if kind != "LSTM" and mode != "concat":
                    continue
                yield Case(f"bidirectional_{kind.lower()}_{mode}{name}", lambda k, kind=kind, mode=mode, o=options:
                           k.layers.Bidirectional(getattr(k.layers, kind)(UNITS, **o), merge_mode=mode), x,
                           mask=mask)
        yield Case(f"bidirectional_{kind.lower()}_initial", lambda k, kind=kind: k.layers.Bidirectional(
            getattr(k.layers, kind)(UNITS, return_state=True, return_sequences=True)), x,
            named={"initial_state": [*states(kind), *[s + 1 for s in states(kind)]]})
    yield Case("bidirectional_two", lambda k: k.layers.Bidirectional(
        k.layers.LSTM(4, return_sequences=True), backward_layer=k.layers.GRU(
            3, return_sequences=True, go_backwards=True, activation="relu")), x)
    yield Case("bidirectional_rnn", lambda k: k.layers.Bidirectional(
        k.layers.RNN([k.layers.LSTMCell(4), k.layers.GRUCell(3)], return_sequences=True)), x, mask=HOLES)

    yield Case("time_distributed_dense", lambda k: k.layers.TimeDistributed(k.layers.Dense(4, activation="relu")), x)
    yield Case("time_distributed_mask", lambda k: k.layers.TimeDistributed(k.layers.Dense(4)), x, mask=MASK)
    yield Case("time_distributed_lstm", lambda k: k.layers.TimeDistributed(k.layers.LSTM(4)),
               floats(2, 3, 5, 4), mask=np.stack([MASK, HOLES])[:, :, :])
    yield Case("time_distributed_activation", lambda k: k.layers.TimeDistributed(k.layers.Activation("relu")), x)


def cases():
    x = floats(3, 5, 6)
    for kind in KINDS:
        yield from layer_cases(kind, x)
    yield from cell_cases(x)
    yield from wrapper_cases(x)
