"""Keras on datasets: fit, evaluate, predict, and datasets of folders."""

import os

import numpy as np
import pytest


def rows(count=60):
    x = np.random.default_rng(2).random((count, 4), dtype=np.float32)
    return x, (x.sum(1) > 2).astype(np.int64)


def make_model(tf):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def test_fit_is_that_of_arrays(tf):
    x, y = rows()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
    first, second = make_model(tf), make_model(tf)
    second.set_weights(first.get_weights())
    of_arrays = first.fit(x, y, batch_size=10, epochs=3, shuffle=False, verbose=0).history
    of_dataset = second.fit(dataset, epochs=3, verbose=0).history
    np.testing.assert_allclose(of_arrays["loss"], of_dataset["loss"], rtol=1e-5)
    np.testing.assert_allclose(first.evaluate(x, y, verbose=0), second.evaluate(dataset, verbose=0), rtol=1e-4)
    np.testing.assert_allclose(first.predict(x, verbose=0), second.predict(dataset.map(lambda a, b: a), verbose=0),
                               rtol=1e-4, atol=1e-5)


def test_steps_and_validation(tf):
    x, y = rows()
    whole = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60).map(
        lambda a, b: (a * 1.0, b), num_parallel_calls=2)
    model = make_model(tf)
    history = model.fit(whole.batch(8).repeat().prefetch(2), steps_per_epoch=4, epochs=2, verbose=0,
                        validation_data=whole.batch(16)).history
    assert len(history["loss"]) == 2 and len(history["val_loss"]) == 2
    weighted = tf.data.Dataset.from_tensor_slices((x, y, np.ones(60, np.float32))).batch(20)
    assert np.isfinite(model.fit(weighted, verbose=0).history["loss"][0])
    assert model.predict(whole.batch(7), verbose=0).shape == (60, 2)
    with pytest.raises(ValueError):
        model.fit(whole.batch(8), y, verbose=0)


def test_fit_of_buckets(tf):
    """Batches of other lengths than the first one's, which a model without an Input is built for."""
    keras = tf.keras

    def sentences():
        for i in range(24):
            yield list(range(1, 3 + i % 7)), i % 2

    signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
    batches = tf.data.Dataset.from_generator(sentences, output_signature=signature).bucket_by_sequence_length(
        lambda words, _: tf.shape(words)[0], [4, 6], [4, 4, 4])
    assert {words.shape[1] for words, _ in batches} == {3, 5, 8}
    model = keras.Sequential([keras.layers.Embedding(12, 4, mask_zero=True), keras.layers.LSTM(3),
                              keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy")
    assert np.isfinite(model.fit(batches, epochs=2, verbose=0).history["loss"]).all()
    assert model.predict(batches.map(lambda words, _: words), verbose=0).shape == (24, 1)
    for length in (2, 6):
        assert model(np.ones([2, length], np.int32)).shape == (2, 1)


def test_errors_in_datasets_end_fit(tf):
    x, y = rows()
    broken = tf.data.Dataset.from_tensor_slices((x, y)).batch(10).map(
        lambda a, b: (tf.debugging.check_numerics(a / 0.0, "broken"), b))
    with pytest.raises(tf.errors.InvalidArgumentError):
        make_model(tf).fit(broken, verbose=0)


def test_batches_by_number(tf):
    x, y = rows()

    class Batches(tf.keras.utils.PyDataset):
        ends = 0

        def __len__(self):
            return 6

        def __getitem__(self, index):
            part = slice(10 * index, 10 * index + 10)
            return x[part], y[part]

        def on_epoch_end(self):
            self.ends += 1

    batches = Batches()
    assert len(make_model(tf).fit(batches, epochs=2, verbose=0, shuffle=False).history["loss"]) == 2
    assert batches.ends >= 2


def write_images(tf, folder):
    for kind, value in (("cats", 50), ("dogs", 200)):
        os.makedirs(os.path.join(folder, kind))
        for i in range(6):
            image = np.full([20, 30, 3], value + i, np.uint8)
            text = tf.io.encode_png(image) if i % 2 else tf.io.encode_jpeg(image)
            tf.io.write_file(os.path.join(folder, kind, f"{i}.{'png' if i % 2 else 'jpg'}"), text)


def test_folders_of_images(tf, tmp_path):
    folder = str(tmp_path / "images")
    write_images(tf, folder)
    load = tf.keras.utils.image_dataset_from_directory
    dataset = load(folder, image_size=(10, 12), batch_size=4, shuffle=False)
    assert dataset.class_names == ["cats", "dogs"] and len(dataset.file_paths) == 12
    images = np.concatenate([x.numpy() for x, _ in dataset])
    labels = np.concatenate([y.numpy() for _, y in dataset])
    assert images.shape == (12, 10, 12, 3) and images.dtype == np.float32
    assert labels.tolist() == [0] * 6 + [1] * 6
    np.testing.assert_allclose(images[:, 0, 0, 0], [*range(50, 56), *range(200, 206)], atol=1.0)
    named = load(folder, label_mode="categorical", image_size=(8, 8), batch_size=12, seed=1)
    assert next(iter(named))[1].shape == (12, 2)
    train, valid = load(folder, validation_split=0.25, subset="both", seed=3, image_size=(8, 8))
    assert len(train.file_paths) == 9 and len(valid.file_paths) == 3
    assert not set(train.file_paths) & set(valid.file_paths)
    plain = load(folder, labels=None, image_size=(8, 8), batch_size=None)
    assert next(iter(plain)).shape == (8, 8, 3)
    with pytest.raises(ValueError):
        load(folder, validation_split=0.5, subset="training")


def test_arguments_of_folders(tf, tmp_path):
    for i, name in enumerate(("a", "b", "c")):
        for k in range(4):
            tf.io.write_file(str(tmp_path / name / f"{k}.png"), tf.io.encode_png(np.full([8, 6 + k, 3], 40 * i + k, np.uint8)))

    def load(**options):
        options = {"image_size": (4, 5), "batch_size": 5, "shuffle": False, "verbose": False, **options}
        return tf.keras.utils.image_dataset_from_directory(str(tmp_path), **options)

    assert load().element_spec == (tf.TensorSpec([None, 4, 5, 3], tf.float32), tf.TensorSpec([None], tf.int32))
    nearest = load(interpolation="nearest")
    assert nearest.element_spec[0] == tf.TensorSpec([None, 4, 5, 3], tf.uint8)
    assert [images.numpy()[:, 0, 0, 0].tolist() for images, _ in nearest] == [
        [0, 1, 2, 3, 40], [41, 42, 43, 80, 81], [82, 83]]
    assert load(data_format="channels_first").element_spec[0].shape == [None, 3, 4, 5]
    assert load(label_mode=None).class_names is None and load(labels=None, label_mode=None).class_names is None
    assert load(labels=[5, 6] * 6).class_names == ["5", "6"]
    some = load(class_names=["c", "a"])
    assert some.class_names == ["c", "a"] and len(some.file_paths) == 8
    parts = load(validation_split=0.25, subset="both", seed=1, shuffle=True)
    assert isinstance(parts, list) and [len(part.file_paths) for part in parts] == [9, 3]
    order = [int(label) for label in parts[1].map(lambda _, y: y).unbatch()]
    assert order == ["abc".index(os.path.basename(os.path.dirname(path))) for path in parts[1].file_paths]
    for wrong in ({"interpolation": "x"}, {"label_mode": "binary"}, {"labels": "x"}, {"image_size": (4,)},
                  {"class_names": ["a", "z"]}, {"class_names": ["a"], "labels": [0] * 12}, {"subset": "training"},
                  {"validation_split": 0.2, "seed": 1}, {"pad_to_aspect_ratio": True, "crop_to_aspect_ratio": True}):
        with pytest.raises(ValueError):
            next(iter(load(**wrong)))


def test_splits_are_datasets(tf):
    x, y = rows(10)
    left, right = tf.keras.utils.split_dataset((x, y), left_size=0.6)
    assert len(left) == 6 and len(right) == 4 and left.element_spec[0] == tf.TensorSpec([4], tf.float32)
    left, right = tf.keras.utils.split_dataset(x, right_size=3)
    np.testing.assert_array_equal(np.stack(list(right.as_numpy_iterator())), x[7:])
    assert tf.keras.utils.to_categorical([0, 2]).dtype == np.float64


def test_folders_of_texts(tf, tmp_path):
    for kind in ("bad", "good"):
        for i in range(3):
            tf.io.write_file(str(tmp_path / kind / f"{i}.txt"), f"{kind} text {i}")
    dataset = tf.keras.utils.text_dataset_from_directory(str(tmp_path), batch_size=2, shuffle=False)
    texts = [t for x, _ in dataset for t in x.numpy().tolist()]
    assert texts[0] == b"bad text 0" and texts[-1] == b"good text 2" and len(texts) == 6
    short = tf.keras.utils.text_dataset_from_directory(str(tmp_path), batch_size=6, shuffle=False, max_length=3)
    assert next(iter(short))[0].numpy().tolist() == [b"bad"] * 3 + [b"goo"] * 3


def test_refused_time_series(tf):
    x = np.arange(10)
    for wrong in ({"start_index": 10}, {"end_index": 10}, {"start_index": 5, "end_index": 3}, {"sampling_rate": 0}):
        with pytest.raises(ValueError):
            tf.keras.utils.timeseries_dataset_from_array(x, None, 2, **wrong)


def test_time_series(tf):
    data = np.arange(20, dtype=np.float32).reshape(-1, 1)
    make = tf.keras.utils.timeseries_dataset_from_array
    found = list(make(data[:-4], data[4:], 4, batch_size=8))
    assert found[0][0].shape == (8, 4, 1) and found[0][0].numpy()[2, :, 0].tolist() == [2.0, 3.0, 4.0, 5.0]
    assert found[0][1].numpy()[:3, 0].tolist() == [4.0, 5.0, 6.0]
    assert sum(x.shape[0] for x, _ in found) == 13
    apart = list(make(data, None, 3, sequence_stride=2, sampling_rate=3, batch_size=4, start_index=2, end_index=15))
    assert apart[0].numpy()[:2, :, 0].tolist() == [[2.0, 5.0, 8.0], [4.0, 7.0, 10.0]]
    assert sum(int(x.shape[0]) for x in apart) == 4


@pytest.mark.parametrize("steps, wanted", [(2, [2, 2, 1, 2]), (5, [5, 5, 5, 5]), (7, [5, 5, 5, 5]), (3, [3, 2, 3, 2])])
def test_epochs_of_steps_end_with_the_data(tf, steps, wanted):
    class Count(tf.keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.train, self.test = [], []

        def on_epoch_begin(self, epoch, logs=None):
            self.train.append(0)

        def on_train_batch_end(self, batch, logs=None):
            self.train[-1] += 1

        def on_test_begin(self, logs=None):
            self.test.append(0)

        def on_test_batch_end(self, batch, logs=None):
            self.test[-1] += 1

    data = tf.data.Dataset.from_tensor_slices((np.ones([9, 2], np.float32), np.ones([9, 1], np.float32))).batch(2)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    count = Count()
    model.fit(data, steps_per_epoch=steps, epochs=4, verbose=0, callbacks=[count])
    assert count.train == wanted
    model.evaluate(data, steps=7, verbose=0, callbacks=[count])
    assert count.test == [5]
