"""BiCodec: from a speaker's global tokens and the semantic tokens of a text to sound at 16 kHz.

config, names, checkpoint   the published files; only the half that decodes is read
extent                      which steps of its utterance each row of a batch holds
prenet, wave, model         the decoder, for windows of many utterances in one batch
context, opening            how far away a token may be and still be heard, on these weights
cutter                      which tokens are decoded next, and what of their sound is given out when
booth                       the decoder on its thread, where the windows of all streams meet
sounding                    one utterance, from tokens as they come to samples as they are needed
"""

from api.engines.spark.codec.booth import Booth
from api.engines.spark.codec.config import SAMPLE_RATE_HZ
from api.engines.spark.codec.cutter import Cut, Cutter, Sound
from api.engines.spark.codec.model import BiCodec
from api.engines.spark.codec.opening import open_bicodec
from api.engines.spark.codec.sounding import Sounding
from api.engines.spark.codec.window import Context, Window

__all__ = [
    "SAMPLE_RATE_HZ",
    "BiCodec",
    "Booth",
    "Context",
    "Cut",
    "Cutter",
    "Sound",
    "Sounding",
    "Window",
    "open_bicodec",
]
