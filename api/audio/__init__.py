"""PCM in, bytes out: the room where sound becomes a file or a stream. Synchronous; call it from a thread.

`formats.py` is the table of what there is, `encode.py` the chain that every stream goes through.
"""

from api.audio.codecs.base import Tail
from api.audio.encode import Encoder, open_encoder
from api.audio.formats import FORMATS, Format, find_format

__all__ = ["FORMATS", "Encoder", "Format", "Tail", "find_format", "open_encoder"]
