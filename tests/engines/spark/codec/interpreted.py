"""The snake's kernel in Triton's interpreter: TRITON_INTERPRET=1 must be set before Triton is imported."""

import torch

from api.engines.spark.codec.cuda.snake import bent_at_once
from api.engines.spark.codec.wave import bent


def main() -> None:
    dice = torch.Generator().manual_seed(3)
    alpha = torch.rand(1, 3, 1, generator=dice) + 0.2
    for steps in (1, 7, 1024, 1500):
        whole = torch.randn(2, 3, steps + 4, generator=dice) * 3
        for x in (whole[..., 2:-2], whole[..., 2:-2].to(torch.bfloat16)):
            for kind, close in ((torch.float32, 1e-5), (torch.bfloat16, 2**-7)):
                one, other = (way(x, alpha, 1 / alpha, kind) for way in (bent_at_once, bent))
                assert one.dtype == kind
                # A bit of the kind's own, since the interpreter cuts off what a GPU rounds.
                torch.testing.assert_close(one, other, rtol=close, atol=1e-5)
    print("alike")


if __name__ == "__main__":
    main()
