"""What is recorded for a GPU may not ask it anything: a guard for the same steps on a CPU."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class NoQuestions(TorchDispatchMode):
    """Fails where the host would have to wait for a value, or would send one that a recording could not change."""

    ASKING = ("_local_scalar_dense", "nonzero", "is_nonzero", "equal", "masked_select", "lift_fresh", "unique")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert func.overloadpacket.__name__ not in self.ASKING, f"{func} asks the device"
        return func(*args, **kwargs or {})
