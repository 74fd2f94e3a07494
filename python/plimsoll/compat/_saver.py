"""Saver and what belongs to checkpoints, in TensorFlow's own files (but without a .meta)."""

import contextlib
import os
import time

from .. import _core
from ._calls import eagerly
from ._graph import get_default_graph
from ._variable import GraphVariable


def _text(path):
    path = os.fspath(path)
    return path.decode() if isinstance(path, bytes) else path


def _name_of(variable):
    return variable.op.name if isinstance(variable, GraphVariable) else variable.name.partition(":")[0]


class Saver:
    """Writes the values of variables to files, and reads them back."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5,
                 keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False,
                 saver_def=None, builder=None, defer_build=False, allow_empty=False, write_version=2,
                 pad_step_number=False, save_relative_paths=False, filename=None):
        self._asked, self._allow_empty, self._reshape = var_list, allow_empty, reshape
        self._max_to_keep, self._hours = max_to_keep or 0, keep_checkpoint_every_n_hours
        self._pad, self._relative = pad_step_number, save_relative_paths
        self._last = []  # (path, time), oldest first
        self._next_kept = time.time() + self._hours * 3600
        self._variables = None
        if not defer_build:
            self.build()

    def build(self):
        """Decides which variables there are."""
        asked = self._asked
        if asked is None:
            graph = get_default_graph()
            asked = graph.get_collection("variables") + graph.get_collection("saveable_objects")
        if isinstance(asked, dict):
            found = dict(asked)
        else:
            found = {}
            for variable in asked:
                if not hasattr(variable, "assign"):
                    raise TypeError(f"Variable to save is not a Variable: {variable}")
                if _name_of(variable) in found:
                    raise ValueError(f"At least two variables have the same name: {_name_of(variable)}")
                found[_name_of(variable)] = variable
        if not found and not self._allow_empty:
            raise ValueError("No variables to save")
        self._variables = found

    @property
    def last_checkpoints(self):
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints):
        self._last = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Takes files of a former process into account, to delete them when there are too many."""
        self._last = [(p, os.path.getmtime(p + ".index")) for p in map(_text, checkpoint_paths)
                      if checkpoint_exists(p)]

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint; returns its path."""
        if self._variables is None:
            self.build()
        path = _text(save_path)
        if os.path.split(latest_filename or "checkpoint")[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is not None:
            step = _step(sess, global_step)
            path = f"{path}-{step:08d}" if self._pad else f"{path}-{step}"
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            try:
                os.mkdir(folder)
            except FileNotFoundError:
                raise ValueError(f"Parent directory of {path} doesn't exist, can't save.") from None
        with eagerly(), _locked(sess):
            writer = _core.TensorBundleWriter(path)
            for name, variable in sorted(self._variables.items()):
                held = sess._variable(variable) if isinstance(variable, GraphVariable) else variable
                writer.add(name, held.value())
            writer.finish()
        if write_state:
            self._remember(path)
            update_checkpoint_state(folder, path, self.last_checkpoints, latest_filename,
                                    relative=self._relative)
        return path

    def _remember(self, path):
        self._last = [(p, t) for p, t in self._last if p != path] + [(path, time.time())]
        while self._max_to_keep and len(self._last) > self._max_to_keep:
            old, when = self._last.pop(0)
            if when > self._next_kept:
                self._next_kept += self._hours * 3600
            else:
                remove_checkpoint(old)

    def restore(self, sess, save_path):
        """Gives variables the values that a checkpoint has."""
        if self._variables is None:
            self.build()
        if not self._variables:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = _text(save_path)
        if not checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        from ..errors import InvalidArgumentError, NotFoundError
        reader = _core.TensorBundleReader(path)
        specs = reader.specs()
        for name, variable in self._variables.items():  # all of them fit, or nothing changes
            if not reader.has(name):
                raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
            dims, dtype = specs[name]
            if dtype is not variable.dtype:
                raise InvalidArgumentError(None, None, f"tensor_name = {name}; expected dtype "
                                           f"{variable.dtype.name} does not equal original dtype "
                                           f"{dtype.name}")
            if not self._reshape and not variable.shape.is_compatible_with(dims):
                raise InvalidArgumentError(None, None, "Assign requires shapes of both tensors to match. lhs "
                                           f"shape= {list(variable.shape.as_list())} rhs shape= "
                                           f"{list(dims)}: '{name}'")
        with eagerly(), _locked(sess):
            for name, variable in self._variables.items():
                value = reader.read(name)
                if self._reshape:
                    value = _core.op("reshape")(value, variable.shape.as_list())
                if isinstance(variable, GraphVariable):
                    sess._restore(variable, value)
                else:
                    variable.assign(value)

    def export_meta_graph(self, *args, **kwargs):
        from ._not_built import not_built
        not_built("Saver.export_meta_graph", "graphs have no GraphDef")()

    to_proto = as_saver_def = export_meta_graph


def _locked(sess):
    return contextlib.nullcontext() if sess is None else sess._lock


def _step(sess, global_step):
    if isinstance(global_step, int):
        return global_step
    if hasattr(global_step, "_is_graph_tensor"):
        return int(sess.run(global_step))
    return int(global_step)


class CheckpointState:
    """What the file `checkpoint` in a folder says."""

    def __init__(self, model_checkpoint_path="", all_model_checkpoint_paths=()):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = []
        self.last_preserved_timestamp = 0.0

    def __repr__(self):
        lines = [f'model_checkpoint_path: "{self.model_checkpoint_path}"']
        lines += [f'all_model_checkpoint_paths: "{p}"' for p in self.all_model_checkpoint_paths]
        return "\n".join(lines) + "\n"


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                            latest_filename=None, all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None, relative=False):
    """Writes which checkpoint is the last."""
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)

    def shown(path):
        if relative or not os.path.isabs(path):
            return os.path.relpath(path, save_dir or ".")
        return path

    name = os.path.join(save_dir, latest_filename or "checkpoint")
    temporary = f"{name}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(repr(CheckpointState(shown(model_checkpoint_path), map(shown, paths))))
    os.replace(temporary, name)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What the folder says of its checkpoints; None if it says nothing."""
    import ast
    name = os.path.join(_text(checkpoint_dir), latest_filename or "checkpoint")
    if not os.path.isfile(name):
        return None
    state = CheckpointState()
    with open(name, encoding="utf-8") as file:
        for line in file:
            key, _, value = line.strip().partition(": ")
            if not value.startswith('"'):
                continue
            path = os.path.join(_text(checkpoint_dir), ast.literal_eval(value))
            if key == "model_checkpoint_path":
                state.model_checkpoint_path = path
            elif key == "all_model_checkpoint_paths":
                state.all_model_checkpoint_paths.append(path)
    return state if state.model_checkpoint_path else None


def checkpoint_exists(checkpoint_prefix):
    return os.path.isfile(_text(checkpoint_prefix) + ".index")


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The path of the last checkpoint in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not checkpoint_exists(state.model_checkpoint_path):
        return None
    return state.model_checkpoint_path


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    import glob
    prefix = glob.escape(_text(checkpoint_prefix))
    for path in [*glob.glob(prefix + ".index"), *glob.glob(prefix + ".data-?????-of-?????"),
                 *glob.glob(prefix + ".meta")]:
        os.remove(path)


class NewCheckpointReader:
    """Looks into a checkpoint without a graph."""

    def __init__(self, filepattern):
        path = _text(filepattern)
        if not checkpoint_exists(path):
            from ..errors import NotFoundError
            raise NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any "
                                f"matching files for {path}")
        self._reader = _core.TensorBundleReader(path)

    def has_tensor(self, tensor_str):
        return self._reader.has(tensor_str)

    def get_tensor(self, tensor_str):
        import numpy
        with eagerly():
            return numpy.array(self._reader.read(tensor_str).numpy())

    def get_variable_to_shape_map(self):
        return {name: list(dims) for name, (dims, _) in self._reader.specs().items()}

    def get_variable_to_dtype_map(self):
        return {name: dtype for name, (_, dtype) in self._reader.specs().items()}


def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the last one in a folder."""
    path = _text(ckpt_dir_or_file)
    if os.path.isdir(path):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
        path = found
    return NewCheckpointReader(path)


def list_variables(ckpt_dir_or_file):
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
