"""One pipeline of one library, in a process of its own: data_cases.py CASE LIBRARY FOLDER.

Prints {"per_s": elements per second}. `make` writes the files that the cases read.
"""

import importlib
import json
import os
import sys
import time

import numpy as np

from photographs import photograph

THREADS = 2
NUM_RECORDS, NUM_IMAGES = 20000, 200


def make(tf, folder):
    rng = np.random.default_rng(1)
    with tf.io.TFRecordWriter(os.path.join(folder, "examples")) as writer:
        for i in range(NUM_RECORDS):
            feature = {
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10])),
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=rng.random(64).tolist())),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"row %d" % i])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    for i in range(0, NUM_IMAGES, 4):
        image = photograph(rng)
        for k, seen in enumerate((image, image[::-1], image[:, ::-1], image[::-1, ::-1])):
            tf.io.write_file(os.path.join(folder, f"{i + k:04}.jpg"), tf.io.encode_jpeg(np.ascontiguousarray(seen)))


def map_and_batch(tf, folder):
    data = tf.data.Dataset.from_tensor_slices(np.random.rand(20000, 16).astype(np.float32))
    return data.map(lambda x: x * 2.0 + 1.0, num_parallel_calls=THREADS).batch(128).prefetch(2), 20000


def batches_of_arrays(tf, folder):
    x = np.random.rand(20000, 784).astype(np.float32)
    y = np.arange(20000)
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).batch(128).prefetch(2), 20000


def examples(tf, folder):
    features = {"label": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([64], tf.float32),
                "name": tf.io.FixedLenFeature([], tf.string)}
    data = tf.data.TFRecordDataset(os.path.join(folder, "examples"))
    data = data.map(lambda r: tf.io.parse_single_example(r, features), num_parallel_calls=THREADS)
    return data.batch(128).prefetch(2), NUM_RECORDS


def batches_of_examples(tf, folder):
    features = {"label": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([64], tf.float32),
                "name": tf.io.FixedLenFeature([], tf.string)}
    data = tf.data.TFRecordDataset(os.path.join(folder, "examples")).batch(128)
    return data.map(lambda r: tf.io.parse_example(r, features), num_parallel_calls=THREADS).prefetch(2), NUM_RECORDS


def photographs(tf, folder):
    def read(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(image, [224, 224])

    data = tf.data.Dataset.list_files(os.path.join(folder, "*.jpg"), shuffle=False)
    return data.map(read, num_parallel_calls=THREADS).batch(16).prefetch(2), NUM_IMAGES


CASES = {"map + batch of 16 floats": map_and_batch, "shuffle + batch of numpy rows": batches_of_arrays,
         "TFRecord + parse_single_example": examples, "TFRecord + batch + parse_example": batches_of_examples,
         "JPEG + resize": photographs}


def main(case, library, folder):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    tf = importlib.import_module(library)
    if case == "make":
        make(tf, folder)
        return
    if library == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(THREADS)
        tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    dataset, count = CASES[case](tf, folder)
    best = 0.0
    for _ in range(4):
        begin = time.perf_counter()
        for _ in dataset:
            pass
        best = max(best, count / (time.perf_counter() - begin))
    print(json.dumps({"per_s": best}))


if __name__ == "__main__":
    main(*sys.argv[1:])
