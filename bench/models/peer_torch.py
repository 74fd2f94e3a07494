"""The models in PyTorch, channels first or, with the variant "channels_last", in that memory format."""

import torch
import torch.nn.functional as F

from networks import NETWORKS, Net, batch_of


class TorchNet(Net):
    relu, relu6, gelu = staticmethod(F.relu), staticmethod(F.relu6), staticmethod(F.gelu)

    def __init__(self, dropout, memory_format):
        super().__init__(dropout)
        self.memory_format = memory_format

    def variable(self, value, name, trainable=True):
        t = torch.from_numpy(value)
        if t.dim() == 4:  # [height, width, in, out] -> [out, in, height, width]
            t = t.permute(2, 3, 0, 1) if t.shape[3] == 1 else t.permute(3, 2, 0, 1)
            t = t.contiguous(memory_format=self.memory_format)
        elif t.dim() == 2:
            t = t.t().contiguous()
        return t.requires_grad_(trainable)

    def dense(self, x, name, n_in, n_out):
        return F.linear(x, *self.dense_weights(name, n_in, n_out))

    def conv(self, x, name, size, n_in, n_out, stride=1, pad=None, bias=False, depthwise=False):
        kernel = self.conv_kernel(name, size, n_in, n_out, depthwise)
        bias = self.get_constant(name + "/bias", n_out, 0) if bias else None
        padding = (size - 1) // 2 if pad is None else pad
        return F.conv2d(x, kernel, bias, stride, padding, groups=n_in if depthwise else 1)

    def batch_norm(self, x, name, channels):
        gamma, beta = self.norm_weights(name, channels)
        mean, variance = self.moving_averages(name, channels)
        return F.batch_norm(x, mean, variance, gamma, beta, training=True, momentum=0.1, eps=1e-5)

    def layer_norm(self, x, name, channels):
        return F.layer_norm(x, [channels], *self.norm_weights(name, channels), eps=1e-5)

    def attention(self, x, name, channels, heads):
        batch, positions, size = x.shape[0], x.shape[1], channels // heads
        qkv = self.dense(x, name + "/qkv", channels, 3 * channels).view(batch, positions, 3, heads, size)
        y = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4).unbind(0))
        return self.dense(y.transpose(1, 2).reshape(batch, positions, channels), name + "/out", channels, channels)

    def lstm(self, x, name, n_in, units):
        kernel, recurrent, bias = self.lstm_weights(name, n_in, units)
        state = torch.zeros(1, x.shape[0], units)
        weights = [kernel, recurrent, bias, torch.zeros(4 * units)]
        return torch.lstm(x, (state, state), weights, True, 1, 0.0, True, False, True)[1][0]

    def max_pool(self, x, window, stride, pad):
        return F.max_pool2d(x, window, stride, pad)

    def flatten(self, x):
        return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)

    def dropout(self, x):
        return F.dropout(x, self.dropout_rate)

    def global_average(self, x):
        return x.mean((2, 3))

    def mean_of_positions(self, x):
        return x.mean(1)


def set_threads(threads):
    torch.set_num_threads(threads)


def make_step(model, batch, optimizer, dropout, variant):
    network = NETWORKS[model][0]
    memory_format = torch.channels_last if variant == "channels_last" else torch.contiguous_format
    x, y = map(torch.from_numpy, batch_of(model, batch))
    y = y.long()
    if x.dim() == 4:
        x = x.permute(0, 3, 1, 2).contiguous(memory_format=memory_format)
    net = TorchNet(dropout, memory_format)
    with torch.no_grad():
        network(net, x[:1])  # makes the variables
        for name, value in net.state.items():
            value.fill_(1 if name.endswith("/variance") else 0)
    variables = list(net.weights.values())
    if optimizer == "adam":
        optimizer = torch.optim.Adam(variables, lr=0.001, betas=(0.9, 0.999), eps=1e-7, fused=True)
    else:
        optimizer = torch.optim.SGD(variables, lr=0.001, momentum=0.9, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(net, x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, float
