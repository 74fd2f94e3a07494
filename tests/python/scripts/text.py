"""Texts with TextVectorization, Embedding and LSTM, on arrays."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential
from tensorflow.keras.layers import LSTM, Bidirectional, Dense, Embedding, Input, TextVectorization
from tensorflow.keras.optimizers import Adam

tf.keras.utils.set_random_seed(1)

good = ["good film", "a great, great story", "I liked it", "wonderful actors and a good plot", "great fun"]
bad = ["bad film", "an awful story", "I hated it", "boring actors and a bad plot", "awful, boring"]
rng = np.random.default_rng(1)
texts, labels = [], []
for _ in range(200):
    label = int(rng.integers(0, 2))
    texts.append(str(rng.choice(good if label else bad)) + " " + str(rng.choice(["today", "yesterday", "indeed"])))
    labels.append(label)
texts, labels = np.array(texts), np.array(labels, dtype="float32")

vectorize = TextVectorization(max_tokens=100, output_mode="int", output_sequence_length=8)
vectorize.adapt(texts)
vocabulary = vectorize.get_vocabulary()
print("first words:", vocabulary[:2], "words:", len(vocabulary))
x = vectorize(texts).numpy()
print("shape:", x.shape, "padding:", int(x[0, -1]))

model = Sequential([
    Input(shape=(8,), dtype="int64"),
    Embedding(input_dim=len(vocabulary), output_dim=8, mask_zero=True),
    Bidirectional(LSTM(8)),
    Dense(1, activation="sigmoid"),
])
model.compile(optimizer=Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x[:160], labels[:160], epochs=6, batch_size=16, validation_data=(x[160:], labels[160:]),
                    verbose=0)
print("names:", sorted(history.history))
print("learnt:", history.history["val_accuracy"][-1] > 0.95)
print("final loss:", round(history.history["val_loss"][-1], 4))
scores = model.predict(vectorize(np.array(["a great, great story today", "an awful story today"])), verbose=0)
print("good before bad:", bool(scores[0, 0] > 0.5 > scores[1, 0]))
