"""Short spectra of a source, and sound from short spectra, exact at every row's own ends."""

import torch
from torch import Tensor, nn

from api.engines.kokoro.model.spans import Spans


class Spectra(nn.Module):
    """Frames of `size` samples under a Hann window, `hop` apart, centred on their samples."""

    window: Tensor
    synthesis: Tensor

    def __init__(self, size: int, hop: int) -> None:
        super().__init__()
        self.size, self.hop, self.reach = size, hop, size // 2
        # On the host even where the parameters are not allocated yet: no checkpoint holds these.
        window = torch.hann_window(size, device="cpu")
        self.register_buffer("window", window, persistent=False)
        self.register_buffer("synthesis", _synthesis(size) * window, persistent=False)

    def analyse(self, samples: Tensor, spans: Spans) -> Tensor:
        """[batch, samples] to magnitudes and phases [batch, size + 2, frames]; rows mirrored at their own ends."""
        spectra = torch.stft(
            self._mirrored(samples, spans),
            self.size,
            self.hop,
            window=self.window,
            center=False,
            return_complex=True,
        )
        return torch.cat([spectra.abs(), spectra.angle()], dim=1)

    def synthesise(self, magnitude: Tensor, phase: Tensor, frames: Spans) -> Tensor:
        """Two times [batch, size / 2 + 1, frames] to [batch, samples], silent past each row's end."""
        parts = torch.cat([magnitude * phase.cos(), magnitude * phase.sin()], dim=1)
        pieces = frames.hide(parts).transpose(1, 2) @ self.synthesis
        # Frames that a row does not have must not count at its end either.
        weights = frames.real[..., None] * self.window.square()
        samples = self._overlapped(pieces) / self._overlapped(weights).clamp_(min=1e-11)
        first = self.reach
        whole = samples[:, first : first + (frames.width - 1) * self.hop]
        return frames.stretched(self.hop, -self.hop).hide(whole[:, None]).squeeze(1)

    def _mirrored(self, samples: Tensor, spans: Spans) -> Tensor:
        """`reach` samples before and after each row, reflected, the edge itself not repeated."""
        lengths = spans.ends[:, None]
        steps = torch.arange(-self.reach, spans.width + self.reach, device=samples.device).abs()
        there_and_back = torch.minimum(steps, 2 * (lengths - 1) - steps).clamp_(min=0)
        return samples.gather(1, there_and_back)

    def _overlapped(self, pieces: Tensor) -> Tensor:
        """The sum of [batch, frames, size] laid `hop` apart."""
        batch, frames, size = pieces.shape
        parts = size // self.hop
        total = pieces.new_zeros(batch, frames + parts - 1, self.hop)
        for part, piece in enumerate(pieces.unflatten(-1, (parts, self.hop)).unbind(2)):
            total[:, part : part + frames] += piece
        return total.flatten(1)


def _synthesis(size: int) -> Tensor:
    """A half spectrum to a real signal, [size + 2, size]: first for real parts, then for imaginary ones."""
    bins = torch.arange(size // 2 + 1, dtype=torch.float64, device="cpu")
    angles = 2 * torch.pi * bins[:, None] * torch.arange(size, dtype=torch.float64, device="cpu") / size
    share = torch.full_like(bins, 2 / size)
    share[0] = share[-1] = 1 / size
    # Frequency 0 and the highest have no imaginary part in a real signal.
    imaginary = -angles.sin()
    imaginary[0] = imaginary[-1] = 0
    return torch.cat([angles.cos() * share[:, None], imaginary * share[:, None]]).float()
