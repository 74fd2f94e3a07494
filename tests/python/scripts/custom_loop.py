"""Regression with a training loop of one's own: tape, function, metrics, a class for the model."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(3)

rng = np.random.default_rng(3)
x = rng.normal(size=(512, 4)).astype("float32")
y = (x[:, :1] * 2 - x[:, 1:2] + 0.5).astype("float32")


class Net(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.hidden = [layers.Dense(width, activation="relu") for _ in range(2)]
        self.out = layers.Dense(1)

    def call(self, inputs, training=None):
        h = inputs
        for layer in self.hidden:
            h = layer(h)
        return self.out(h)


model = Net(16)
optimizer = keras.optimizers.Adam(learning_rate=keras.optimizers.schedules.ExponentialDecay(0.02, 50, 0.9))
loss_fn = keras.losses.MeanSquaredError()
train_loss = keras.metrics.Mean(name="train_loss")
traces = 0


@tf.function
def train_step(inputs, targets):
    global traces
    traces += 1
    with tf.GradientTape() as tape:
        predictions = model(inputs, training=True)
        loss = loss_fn(targets, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)
    return loss


model(x[:1])  # makes the weights
print("weights:", len(model.trainable_variables), "parameters:", model.count_params())
losses = []
for epoch in range(8):
    train_loss.reset_state()
    order = rng.permutation(len(x))
    for i in range(0, len(x), 64):
        rows = order[i:i + 64]
        train_step(tf.constant(x[rows]), tf.constant(y[rows]))
    losses.append(float(train_loss.result()))
print("loss falls:", losses[-1] < 0.1 * losses[0])
print("final loss:", round(losses[-1], 4))
print("traced once or twice:", traces <= 2)
print("steps:", int(optimizer.iterations))
test = model(tf.constant(x[:5]))
print("shape:", tuple(test.shape), "close:", float(tf.reduce_mean(tf.abs(test - y[:5]))) < 0.5)
