"""Models' files, from a hub into `CHORUS_MODELS_DIR`.

What an engine wants is said in its folder; nothing here knows an engine by name.
"""

from api.downloads.download import Delivery, Order, download
from api.downloads.fetch import Patience
from api.downloads.hub import Hub
from api.downloads.progress import Meter, Progress, size, so_many_files
from api.downloads.stock import Stock, stock

__all__ = [
    "Delivery",
    "Hub",
    "Meter",
    "Order",
    "Patience",
    "Progress",
    "Stock",
    "download",
    "size",
    "so_many_files",
    "stock",
]
