"""PCM in, bytes out: the room where sound becomes a file or a stream. Synchronous; call it from a thread.

`formats.py` is the table of what there is, `encode.py` the chain that every stream goes through.
"""

from api.audio.codecs.base import Tail
from api.audio.encode import Encoder, open_encoder
from api.audio.formats import FORMATS, Format, find_format
from api.audio.subtitles import SUBTITLES, cues_of

__all__ = ["FORMATS", "SUBTITLES", "Encoder", "Format", "Tail", "cues_of", "find_format", "open_encoder"]
