"""tf.data: where batches come from."""

from . import experimental
from ._dataset import (AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, DatasetSpec, Iterator,
                       NumpyIterator)
from ._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from ._options import Options, ThreadingOptions
