"""How far two sounds are apart, where samples cannot tell: a phase turned a little is the same sound."""

import torch
from torch import Tensor

SIZE, HOP = 512, 128
# Below the loudest by so many dB nothing is heard, and nothing compared.
FLOOR_DB = 80


def spectral_distance_db(one: Tensor, other: Tensor) -> float:
    """The log-spectral distance: the root mean square over frequencies, the mean over time."""
    window = torch.hann_window(SIZE, device=one.device)

    def levels(samples: Tensor) -> Tensor:
        power = torch.stft(samples, SIZE, HOP, window=window, return_complex=True).abs().square()
        return 10 * torch.log10(power + 10 ** (-FLOOR_DB / 10) * power.max())

    return float((levels(one) - levels(other)).square().mean(0).sqrt().mean())
