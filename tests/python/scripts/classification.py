"""Digits by a small convolutional network: arrays, fit, evaluate, predict, save, load."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(7)

# 8 x 8 pictures of bars: their class is which row or column is bright.
rng = np.random.default_rng(7)
labels = rng.integers(0, 8, size=1600)
images = rng.uniform(0, 0.5, size=(1600, 8, 8, 1)).astype("float32")
for image, label in zip(images, labels):
    if label < 4:
        image[2 * label] += 0.7
    else:
        image[:, 2 * (label - 4)] += 0.7
x_train, x_test, y_train, y_test = images[:1280], images[1280:], labels[:1280], labels[1280:]

model = keras.Sequential([
    keras.Input(shape=(8, 8, 1)),
    layers.Conv2D(16, kernel_size=(3, 3), activation="relu", padding="same"),
    layers.BatchNormalization(),
    layers.MaxPooling2D(pool_size=(2, 2)),
    layers.Flatten(),
    layers.Dropout(0.2),
    layers.Dense(8, activation="softmax"),
])
model.summary()
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x_train, y_train, batch_size=64, epochs=6, validation_split=0.1, verbose=2,
                    callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=3)])
assert history.history["loss"][-1] < history.history["loss"][0]

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("accuracy is high:", accuracy > 0.9)
print("final loss:", round(loss, 4))
predicted = np.argmax(model.predict(x_test, verbose=0), axis=1)
print("predictions agree with it:", abs(np.mean(predicted == y_test) - accuracy) < 1e-6)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "digits.keras")
    model.save(path)
    again = keras.models.load_model(path)
print("loaded model agrees:", np.allclose(again.predict(x_test, verbose=0), model.predict(x_test, verbose=0),
                                          atol=1e-5))
print("one-hot:", tf.one_hot(y_test[:1], 8).shape, keras.utils.to_categorical(y_test[:1], 8).shape)
