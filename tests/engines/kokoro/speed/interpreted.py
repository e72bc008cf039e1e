"""The fused norm in Triton's interpreter: TRITON_INTERPRET=1 must be set before Triton is imported."""

import torch

from api.engines.kokoro.model.spans import Spans
from api.engines.kokoro.model.style import masked
from api.engines.kokoro.speed.cuda.norm import fused


def main() -> None:
    dice = torch.Generator().manual_seed(3)
    spans = Spans.within(torch.tensor([1500, 7, 1024]), 1500)
    x = spans.hide(torch.randn(3, 4, 1500, generator=dice) * 3 + 5)
    gain, shift = torch.randn(3, 4, generator=dice), torch.randn(3, 4, generator=dice)
    for alpha in (None, torch.rand(4, generator=dice) + 0.2):
        for kind, close in ((torch.float32, 1e-5), (torch.bfloat16, 2**-7)):
            one, other = (norm(x, gain, shift, spans, alpha, kind) for norm in (fused, masked))
            assert one.dtype == kind
            # A bit of the kind's own, since the interpreter cuts off what a GPU rounds.
            torch.testing.assert_close(one, other, rtol=close, atol=1e-5)
    print("alike")


if __name__ == "__main__":
    main()
