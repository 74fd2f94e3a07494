"""tf.strings."""

import numpy as np
import pytest


def texts(tensor):
    return np.asarray(tensor.numpy()).tolist()


def test_letters(tf):
    words = tf.constant([["Ab", ""], ["c d", "é"]])
    assert texts(tf.strings.length(words)) == [[2, 0], [3, 2]]
    assert texts(tf.strings.length(words, unit="UTF8_CHAR")) == [[2, 0], [3, 1]]
    assert texts(tf.strings.lower(words)) == [[b"ab", b""], [b"c d", "é".encode()]]
    assert texts(tf.strings.upper(words, encoding="utf-8")) == [[b"AB", b""], [b"C D", "É".encode()]]
    assert texts(tf.strings.strip(["  a ", "b\n"])) == [b"a", b"b"]


def test_parts(tf):
    assert texts(tf.strings.split("a b  c")) == [b"a", b"b", b"c"]
    assert texts(tf.strings.split("a,,b", sep=",")) == [b"a", b"", b"b"]
    assert texts(tf.strings.split("a,b,c", sep=",", maxsplit=1)) == [b"a", b"b,c"]
    assert texts(tf.strings.substr(["hello", "world"], 1, 3)) == [b"ell", b"orl"]
    assert texts(tf.strings.substr("hello", -3, 2)) == b"ll"
    assert texts(tf.strings.substr(["hello", "world"], [0, 4], [1, 9])) == [b"h", b"d"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.substr("abc", 5, 1)
    assert texts(tf.strings.bytes_split("abc")) == [b"a", b"b", b"c"]


def test_joins(tf):
    assert texts(tf.strings.join(["a", ["b", "c"]], separator="-")) == [b"a-b", b"a-c"]
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.strings.join([["a", "b"], ["c", "d", "e"]])
    grid = tf.constant([["a", "b"], ["c", "d"]])
    assert texts(tf.strings.reduce_join(grid, 0)) == [b"ac", b"bd"]
    assert texts(tf.strings.reduce_join(grid, 1, separator=".")) == [b"a.b", b"c.d"]
    assert texts(tf.strings.reduce_join(grid, [0, 1])) == b"acbd"
    assert texts(tf.strings.reduce_join(grid, [1, 0])) == texts(tf.strings.reduce_join(grid)) == b"abcd"
    assert texts(tf.strings.reduce_join(grid, -1, keepdims=True)) == [[b"ab"], [b"cd"]]


def test_patterns(tf):
    assert texts(tf.strings.regex_replace(["a1b22", "x"], r"[0-9]+", "#")) == [b"a#b#", b"x"]
    assert texts(tf.strings.regex_replace("key=value", r"(\w+)=(\w+)", r"\2=\1 \0")) == b"value=key key=value"
    assert texts(tf.strings.regex_replace("aaa", "a", "b", replace_global=False)) == b"baa"
    assert texts(tf.strings.regex_full_match(["abc", "abcd"], "a.c")) == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.regex_full_match("a", "(")


def test_numbers(tf):
    assert texts(tf.strings.to_number(["1.5", "-2"])) == [1.5, -2.0]
    assert texts(tf.strings.to_number("12", tf.int64)) == 12
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.to_number("x")
    assert texts(tf.strings.as_string([1, -20])) == [b"1", b"-20"]
    assert texts(tf.strings.as_string([1.5, 0.25], precision=2)) == [b"1.50", b"0.25"]
    assert texts(tf.strings.as_string([True, False])) == [b"true", b"false"]
    assert texts(tf.strings.as_string(3.14159, scientific=True, precision=2)) == b"3.14e+00"
    assert texts(tf.strings.as_string(5, width=4, fill="0")) == b"0005"
    assert texts(tf.strings.format("x = {}, y = {}", (tf.constant([1, 2]), tf.constant(3.5)))) == b"x = [1 2], y = 3.5"


def test_buckets(tf):
    words = ["", "a", "Hello", "TensorFlow", "0123456789abcdef", "0123456789abcdefg", "x" * 33, "y" * 64, "z" * 65,
             "w" * 129, "0123456789" * 50]
    found = texts(tf.strings.to_hash_bucket_fast(words, 1 << 40))
    assert found == [254201053263, 436859794915, 129694900359, 913356522190, 987247100007, 582576886346, 361916405303,
                     245123770552, 273332821813, 82215588723, 421633078982]
    assert texts(tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3)) == [0, 2, 2]
