"""Optimizers of the first version: updates are operations, and slots are variables of the graph."""

from .. import _core
from . import _calls, _graph
from ._gradients import gradients
from ._variable import GraphVariable, Variable


def _op(name):
    return _core.op(name)


class Optimizer:
    """compute_gradients, apply_gradients, and minimize, which is both."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._slots = {}
        self._extra = {}  # by graph and name: variables that belong to no other

    def get_name(self):
        return self._name

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=GATE_OP,
                 aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """An operation that changes the variables so that the loss gets less."""
        found = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method,
                                       colocate_gradients_with_ops, grad_loss)
        if all(g is None for g, _ in found):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not "
                             f"support gradients, between variables {[str(v) for _, v in found]} and loss "
                             f"{loss}.")
        return self.apply_gradients(found, global_step=global_step, name=name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """Pairs of a gradient and its variable."""
        if callable(loss) and not hasattr(loss, "_is_graph_tensor"):
            if not _core.is_building():
                return self._by_tape(loss, var_list, grad_loss)
            loss = loss()
        elif not _core.is_building() and not hasattr(loss, "_is_graph_tensor"):
            raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager "
                               "execution is enabled.")
        if var_list is None:
            graph = loss.graph
            var_list = graph.get_collection("trainable_variables")
        else:
            from ..nest import flatten
            var_list = flatten(var_list)
        if not var_list:
            raise ValueError("No variables to optimize.")
        found = gradients(loss, var_list, grad_ys=grad_loss)
        return list(zip(found, var_list))

    def _by_tape(self, loss, var_list, grad_loss):
        with _core.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        if var_list is None:
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, "Optimizer.minimize of a function needs var_list")
        return list(zip(tape.gradient(value, list(var_list), grad_loss), var_list))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that changes each variable by its gradient."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(g, v) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if not isinstance(used[0][1], GraphVariable):
            self._create_slots([v for _, v in used])
            self._prepare()
            for gradient, variable in used:
                self._update(_op("convert_to_tensor")(gradient), variable)
            self._finish()
            if global_step is not None:
                global_step.assign_add(1)
            return None
        return self._apply_in_graph(used, global_step, name)

    def _apply_in_graph(self, used, global_step, name):
        from ._control import group
        graph = used[0][1].graph
        self._create_slots([v for _, v in used])
        with graph.name_scope(name or self._name) as scope:  # the operation has the scope's name
            self._prepare()
            updates = []
            for gradient, variable in used:
                with graph.name_scope("update_" + variable.op.name.replace("/", "_")):
                    updates.append(self._update(_calls.convert_to_tensor(gradient), variable))
            with graph.control_dependencies(updates):
                updates += self._finish()
            if global_step is None:
                made = group(*updates, name=scope)
            else:
                with graph.control_dependencies([group(*updates, name="update")]):
                    made = global_step.assign_add(_op("cast")(1, global_step.dtype), name=scope).op
        if made not in graph.get_collection_ref("train_op"):
            graph.add_to_collection("train_op", made)
        return made

    def _update(self, gradient, variable):
        made = self._apply_dense(gradient, variable)
        constraint = getattr(variable, "constraint", None)
        if constraint is None or not isinstance(variable, GraphVariable):
            return made
        with variable.graph.control_dependencies([made]):
            return variable.assign(constraint(variable))

    # Slots.

    def get_slot(self, var, name):
        return self._slots.get(name, {}).get(var.ref())

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """Slots and what belongs to no variable of the program."""
        graph = _graph.get_default_graph() if _core.is_building() else None
        extra = [v for (g, _), v in self._extra.items() if g is graph]
        slots = [v for _, of in sorted(self._slots.items()) for v in of.values()
                 if not isinstance(v, GraphVariable) or v.graph is graph]
        return sorted(extra + slots, key=lambda v: v.name)

    def _slot(self, variable, slot, value=0.0):
        """The slot of a variable, filled with one value when it is made."""
        held = self._slots.setdefault(slot, {})
        key = variable.ref()
        if key not in held:
            dims = variable._shape.as_list() if isinstance(variable, GraphVariable) else list(variable.shape)
            from ._initializers import Constant
            first = (lambda: Constant(value)(dims, dtype=variable.dtype))
            if not isinstance(variable, GraphVariable):
                held[key] = Variable(first(), trainable=False)
                return held[key]
            graph = variable.graph
            outer = graph.variable_scope.name if graph.variable_scope is not None else ""
            with graph.name_scope(None), graph.device(variable.op.device):
                held[key] = GraphVariable(
                    first, trainable=False, name=(outer + "/" if outer else "")
                    + f"{variable.op.name}/{self._name}")
        return held[key]

    def _extra_variable(self, value, name, like):
        graph = like.graph if isinstance(like, GraphVariable) else None
        found = self._extra.get((graph, name))
        if found is None:
            found = self._extra[(graph, name)] = Variable(value, trainable=False, name=name,
                                                          dtype=like.dtype if like.dtype.is_floating else None)
        return found

    # What each of them does.

    def _create_slots(self, var_list):
        pass

    def _prepare(self):
        pass

    def _apply_dense(self, gradient, variable):
        raise NotImplementedError

    def _finish(self):
        return []

    def _number(self, value, like):
        """A hyperparameter, which may be a tensor or a function, of a tensor's type."""
        if callable(value) and not hasattr(value, "_is_graph_tensor"):
            value = value()
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return _op("cast")(value, like.dtype)
        return value


class GradientDescentOptimizer(Optimizer):
    """variable -= learning_rate * gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, gradient, variable):
        return variable.assign_sub(gradient * self._number(self._learning_rate, gradient))


class MomentumOptimizer(Optimizer):
    """Steps along a decaying sum of gradients."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, var_list):
        for variable in var_list:
            self._slot(variable, "momentum")

    def _apply_dense(self, gradient, variable):
        rate = self._number(self._learning_rate, gradient)
        momentum = self._number(self._momentum, gradient)
        held = self.get_slot(variable, "momentum")
        sum_ = held * momentum + gradient
        step = gradient * rate + sum_ * momentum * rate if self._use_nesterov else sum_ * rate
        return _both(held.assign(sum_), variable.assign_sub(step))


class AdamOptimizer(Optimizer):
    """Steps along the mean of gradients, divided by their size."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="Adam"):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._powers = (self._extra_variable(self._value(self._beta1), "beta1_power", first),
                        self._extra_variable(self._value(self._beta2), "beta2_power", first))
        for variable in var_list:
            self._slot(variable, "m")
            self._slot(variable, "v")

    @staticmethod
    def _value(beta):
        return beta() if callable(beta) and not hasattr(beta, "_is_graph_tensor") else beta

    def _get_beta_accumulators(self):
        return self._powers

    def _apply_dense(self, gradient, variable):
        beta1, beta2 = (self._number(b, gradient) for b in (self._beta1, self._beta2))
        power1, power2 = (_op("cast")(p, gradient.dtype) for p in self._powers)
        rate = self._number(self._lr, gradient) * _op("sqrt")(1.0 - power2) / (1.0 - power1)
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        new_m = m + (gradient - m) * (1.0 - beta1)
        new_v = v + (_op("square")(gradient) - v) * (1.0 - beta2)
        step = new_m * rate / (_op("sqrt")(new_v) + self._number(self._epsilon, gradient))
        return _both(m.assign(new_m), v.assign(new_v), variable.assign_sub(step))

    def _finish(self):
        betas = (self._beta1, self._beta2)
        return [p.assign(p * self._number(b, p)) for p, b in zip(self._powers, betas)]


class AdagradOptimizer(Optimizer):
    """Steps divided by the size of all gradients so far."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError("initial_accumulator_value must be positive: "
                             f"{initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate, self._initial = learning_rate, initial_accumulator_value

    def _create_slots(self, var_list):
        for variable in var_list:
            self._slot(variable, "accumulator", self._initial)

    def _apply_dense(self, gradient, variable):
        held = self.get_slot(variable, "accumulator")
        sum_ = held + _op("square")(gradient)
        step = gradient * self._number(self._learning_rate, gradient) * _op("math.rsqrt")(sum_)
        return _both(held.assign(sum_), variable.assign_sub(step))


class RMSPropOptimizer(Optimizer):
    """Steps divided by a decaying mean of the gradients' size."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False,
                 centered=False, name="RMSProp"):
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered

    def _create_slots(self, var_list):
        for variable in var_list:
            self._slot(variable, "rms", 1.0)
            if self._centered:
                self._slot(variable, "mg")
            self._slot(variable, "momentum")

    def _apply_dense(self, gradient, variable):
        decay = self._number(self._decay, gradient)
        rms, momentum = self.get_slot(variable, "rms"), self.get_slot(variable, "momentum")
        new_rms = rms + (_op("square")(gradient) - rms) * (1.0 - decay)
        changes = [rms.assign(new_rms)]
        size = new_rms + self._number(self._epsilon, gradient)
        if self._centered:
            mg = self.get_slot(variable, "mg")
            new_mg = mg + (gradient - mg) * (1.0 - decay)
            changes.append(mg.assign(new_mg))
            size = size - _op("square")(new_mg)
        step = (momentum * self._number(self._momentum, gradient)
                + gradient * self._number(self._learning_rate, gradient) * _op("math.rsqrt")(size))
        return _both(*changes, momentum.assign(step), variable.assign_sub(step))


class AdadeltaOptimizer(Optimizer):
    """Steps of the size of former steps."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list):
        for variable in var_list:
            self._slot(variable, "accum")
            self._slot(variable, "accum_update")

    def _apply_dense(self, gradient, variable):
        rho, epsilon = (self._number(n, gradient) for n in (self._rho, self._epsilon))
        accum, updates = self.get_slot(variable, "accum"), self.get_slot(variable, "accum_update")
        new_accum = accum * rho + _op("square")(gradient) * (1.0 - rho)
        step = _op("sqrt")(updates + epsilon) * _op("math.rsqrt")(new_accum + epsilon) * gradient
        new_updates = updates * rho + _op("square")(step) * (1.0 - rho)
        return _both(accum.assign(new_accum), updates.assign(new_updates),
                     variable.assign_sub(step * self._number(self._lr, gradient)))


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader: weights that do not help become 0."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False,
                 name="Ftrl", accum_name=None, linear_name=None,
                 l2_shrinkage_regularization_strength=0.0, beta=None):
        super().__init__(use_locking, name)
        for text, value in (("initial_accumulator_value", initial_accumulator_value),
                            ("l1_regularization_strength", l1_regularization_strength),
                            ("l2_regularization_strength", l2_regularization_strength),
                            ("l2_shrinkage_regularization_strength",
                             l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ValueError(f"{text} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power} needs to be negative or zero")
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._initial, self._l1 = initial_accumulator_value, l1_regularization_strength
        self._l2, self._shrinkage, self._beta = (l2_regularization_strength,
                                                 l2_shrinkage_regularization_strength, beta or 0.0)

    def _create_slots(self, var_list):
        for variable in var_list:
            self._slot(variable, "accum", self._initial)
            self._slot(variable, "linear")

    def _apply_dense(self, gradient, variable):
        rate = self._number(self._learning_rate, gradient)
        accum, linear = self.get_slot(variable, "accum"), self.get_slot(variable, "linear")
        new_accum = accum + _op("square")(gradient)
        grown, old = _op("pow")(new_accum, -self._power), _op("pow")(accum, -self._power)
        moved = gradient + variable * (2.0 * self._shrinkage) if self._shrinkage > 0 else gradient
        new_linear = linear + moved - (grown - old) / rate * variable
        l2 = self._beta / (2.0 * rate) + self._l2
        weight = grown / rate + 2.0 * l2
        pulled = _op("sign")(new_linear) * self._l1 - new_linear
        value = _op("where")(_op("abs")(new_linear) > self._l1, pulled / weight,
                             _op("zeros_like")(pulled))
        return _both(variable.assign(value), linear.assign(new_linear), accum.assign(new_accum))


def _both(*changes):
    """One operation for several changes."""
    if not hasattr(changes[0], "_is_graph_tensor"):
        return None
    from ._control import group
    return group(*changes)
