"""The numbers of bench/models/values.h: element i of what is called `name` is a hash of both."""

import numpy as np


def _hash(name, n):
    seed = 2166136261
    for c in name.encode():
        seed = (seed ^ c) * 16777619 & 0xFFFFFFFF
    h = np.arange(1, n + 1, dtype=np.uint32)
    h *= np.uint32(2654435761)
    h ^= np.uint32(seed)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h ^= h >> np.uint32(shift)
        h *= np.uint32(factor)
    h ^= h >> np.uint32(16)
    return h


def uniform(name, shape, limit):
    unit = (_hash(name, int(np.prod(shape))) >> np.uint32(8)) * (1.0 / (1 << 23)) - 1.0
    return (unit * limit).astype(np.float32).reshape(shape)


def labels(name, num, num_classes):
    return (_hash(name, num) % np.uint32(num_classes)).astype(np.int32)
