"""What distinguishes a voice, frame by frame: the network by which speakers are told apart (ECAPA-TDNN).

Its own last step, one vector for the whole clip, is left out: Spark's tokens are made of the frames before it. The
modules have the published names, so that the published weights find their places.
"""

import torch
from torch import Tensor, nn

_GROUPS, _BOTTLENECK = 8, 128


class _Convolution(nn.Module):
    """A convolution, what is negative cut off, and then the scales that training found."""

    def __init__(self, inputs: int, width: int, kernel: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv1d(inputs, width, kernel, padding=padding)
        self.bn = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.bn(self.conv(x).relu())
        return found


class _Cascade(nn.Module):
    """The channels in groups, each of which also sees what the one before it found; the last is passed on."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        group = width // _GROUPS
        self.convs = nn.ModuleList(
            nn.Conv1d(group, group, 3, padding=dilation, dilation=dilation) for _ in range(_GROUPS - 1)
        )
        self.bns = nn.ModuleList(nn.BatchNorm1d(group) for _ in range(_GROUPS - 1))

    def forward(self, x: Tensor) -> Tensor:
        *groups, last = x.chunk(_GROUPS, 1)
        found: list[Tensor] = []
        for group, conv, bn in zip(groups, self.convs, self.bns, strict=True):
            seen = group + found[-1] if found else group
            found.append(bn(conv(seen).relu()))
        return torch.cat([*found, last], 1)


class _Attention(nn.Module):
    """How much each channel counts in this clip."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(width, _BOTTLENECK)
        self.linear2 = nn.Linear(_BOTTLENECK, width)

    def forward(self, x: Tensor) -> Tensor:
        weight = self.linear2(self.linear1(x.mean(2)).relu()).sigmoid()
        return x * weight[:, :, None]


class _Block(nn.Module):
    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.se_res2block = nn.Sequential(
            _Convolution(width, width), _Cascade(width, dilation), _Convolution(width, width), _Attention(width)
        )

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = x + self.se_res2block(x)
        return found


class Listener(nn.Module):
    """[batch, bands, frames] to [batch, three times the width, frames]."""

    def __init__(self, bands: int, width: int) -> None:
        super().__init__()
        self.layer1 = _Convolution(bands, width, 5, padding=2)
        self.layer2, self.layer3, self.layer4 = (_Block(width, dilation) for dilation in (2, 3, 4))
        self.conv = nn.Conv1d(3 * width, 3 * width, 1)

    def forward(self, mels: Tensor) -> Tensor:
        near = self.layer2(self.layer1(mels))
        middle = self.layer3(near)
        far = self.layer4(middle)
        found: Tensor = self.conv(torch.cat([near, middle, far], 1)).relu()
        return found
