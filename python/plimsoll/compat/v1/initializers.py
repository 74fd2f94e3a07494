"""tf.compat.v1.initializers."""

from .._initializers import (Constant as constant, GlorotNormal as glorot_normal,
                             GlorotUniform as glorot_uniform, HeNormal as he_normal,
                             HeUniform as he_uniform, Identity as identity,
                             LecunNormal as lecun_normal, LecunUniform as lecun_uniform, Ones as ones,
                             Orthogonal as orthogonal, RandomNormal as random_normal,
                             RandomUniform as random_uniform, TruncatedNormal as truncated_normal,
                             UniformUnitScaling as uniform_unit_scaling,
                             VarianceScaling as variance_scaling, Zeros as zeros)
from .._variable import global_variables_initializer as global_variables
from .._variable import local_variables_initializer as local_variables
from .._variable import variables_initializer as variables
