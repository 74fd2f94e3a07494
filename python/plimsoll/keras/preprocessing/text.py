"""keras.preprocessing.text."""

from . import not_built

__getattr__ = not_built("text", ("Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"))
