"""Threads of ops."""

from .._core.config import (get_inter_op_parallelism_threads, get_intra_op_parallelism_threads,
                            set_inter_op_parallelism_threads, set_intra_op_parallelism_threads)
