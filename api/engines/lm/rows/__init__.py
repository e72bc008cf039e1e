"""The runtime that needs nothing but torch and transformers: rows join and leave one running batch between steps.

    prompts and cancels -> Batch (who is in it) -> Network (one step) -> draw (the next tokens) -> listeners

A row's arithmetic is its own: what it draws does not depend on who else is in the batch; on a CPU to the last bit.
"""

from api.engines.lm.rows.runtime import RowsModel

__all__ = ["RowsModel"]
