"""ResNet-50 in PyTorch's own layers."""

from torch import nn
import torch.nn.functional as F


def conv(n_in, n_out, size, stride=1):
    return nn.Conv2d(n_in, n_out, size, stride, (size - 1) // 2)


class Block(nn.Module):
    def __init__(self, n_in, width, stride):
        super().__init__()
        self.conv1, self.norm1 = conv(n_in, width, 1, stride), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = conv(width, width, 3), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = conv(width, 4 * width, 1), nn.BatchNorm2d(4 * width)
        self.short = None
        if stride > 1 or n_in != 4 * width:
            self.short = nn.Sequential(conv(n_in, 4 * width, 1, stride), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.relu(self.norm2(self.conv2(y)))
        return F.relu(self.norm3(self.conv3(y)) + (x if self.short is None else self.short(x)))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        blocks, n_in = [], 64
        for stage, depth in enumerate([3, 4, 6, 3]):
            for i in range(depth):
                blocks.append(Block(n_in, 64 << stage, 2 if i == 0 and stage > 0 else 1))
                n_in = 256 << stage
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(2048, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))
