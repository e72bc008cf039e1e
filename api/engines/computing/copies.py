"""From the host to a device without stopping either."""

import torch
from torch import Tensor


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """On its way, from memory that is pinned; work queued after this finds it there."""
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
