"""A program of the first version: a small net on generated digits, fed by hand, saved and restored.

    v1_digits.py FOLDER        prints losses, and what the restored net says
"""
import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("batch_size", 20, "Images in a step.")
tf.app.flags.DEFINE_float("learning_rate", 0.01, "The first learning rate.")


def make_digits(num, rng):
    """Bars at one of ten places, with noise."""
    labels = rng.integers(0, 10, num)
    images = rng.normal(0, 0.3, size=(num, 28, 28)).astype(np.float32)
    for image, label in zip(images, labels):
        image[:, 2 * label + 2:2 * label + 5] += 1.0
    return images.reshape(num, 784), np.eye(10, dtype=np.float32)[labels]


def weight_variable(name, shape, rng):
    initial = rng.normal(0, 0.1, size=shape).astype(np.float32)
    return tf.get_variable(name, initializer=tf.constant(initial))


def bias_variable(name, shape):
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(0.1))


def inference(images, keep_prob, rng):
    with tf.variable_scope("conv1"):
        x = tf.reshape(images, [-1, 28, 28, 1])
        kernel = weight_variable("w", [5, 5, 1, 4], rng)
        conv = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
        hidden = tf.nn.relu(conv + bias_variable("b", [4]))
        pool = tf.nn.max_pool(hidden, ksize=[1, 4, 4, 1], strides=[1, 4, 4, 1], padding="SAME")
    with tf.variable_scope("fc1"):
        size = int(np.prod([d.value for d in pool.get_shape()[1:]]))
        flat = tf.reshape(pool, [-1, size])
        hidden = tf.nn.relu(tf.matmul(flat, weight_variable("w", [size, 16], rng)) + bias_variable("b", [16]))
        hidden = tf.nn.dropout(hidden, keep_prob)
    with tf.variable_scope("out"):
        return tf.matmul(hidden, weight_variable("w", [16, 10], rng)) + bias_variable("b", [10])


def main(argv):
    folder = argv[1]
    rng = np.random.default_rng(0)
    images, labels = make_digits(400, rng)
    x = tf.placeholder(tf.float32, [None, 784], name="x")
    y = tf.placeholder(tf.float32, [None, 10], name="y")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")
    logits = inference(x, keep_prob, rng)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
    loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if v.op.name.endswith("w")])
    global_step = tf.Variable(0, trainable=False, name="global_step")
    rate = tf.train.exponential_decay(FLAGS.learning_rate, global_step, 10, 0.9, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate)
    grads = [(tf.clip_by_norm(g, 5.0), v) for g, v in optimizer.compute_gradients(loss)]
    train_op = optimizer.apply_gradients(grads, global_step=global_step)
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    saver = tf.train.Saver(max_to_keep=2)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(60):
            at = step * FLAGS.batch_size % 400
            feed = {x: images[at:at + FLAGS.batch_size], y: labels[at:at + FLAGS.batch_size]}
            _, value = sess.run([train_op, loss], feed_dict=feed)
            if step % 10 == 9:
                print("loss %.5f" % value)
                saver.save(sess, os.path.join(folder, "model.ckpt"), global_step=global_step)
        before = sess.run(logits, {x: images[:50]})

    test_images, test_labels = make_digits(200, rng)
    with tf.Session() as sess:
        path = tf.train.latest_checkpoint(folder)
        print(os.path.basename(path))
        saver.restore(sess, path)
        assert np.array_equal(sess.run(logits, {x: images[:50]}), before)
        print("step %d" % sess.run(global_step))
        print("accuracy %.3f" % accuracy.eval({x: test_images, y: test_labels}))
        dropped = sess.run(logits, {x: images[:50], keep_prob: 0.5})
        assert not np.array_equal(dropped, before)


if __name__ == "__main__":
    tf.app.run()
