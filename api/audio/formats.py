"""The table of formats. Whatever depends on a format is a column here and is asked of it, nowhere else.

Why these settings and not others: docs/decisions/0002-encoders.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from api.audio.codecs.base import Codec, Order
from api.audio.codecs.ffmpeg import Ffmpeg
from api.audio.codecs.mp3 import Mp3
from api.audio.codecs.raw import Raw, Wav
from api.errors import InvalidRequest

RATES_HZ = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)
OPUS_RATES_HZ = (8_000, 16_000, 24_000, 48_000)


@dataclass(frozen=True, slots=True)
class Format:
    """A format callers can ask for, what it is called on the wire, and the codec that makes it.

    `bit_rate` is in bits per second, and is less where a sample rate cannot carry it. Encoding a `light` format
    costs so little that it may stay on the event loop. Not every format can be `empty`: in the others, no sound
    at all becomes one silent sample.
    """

    name: str
    media_type: str
    codec: Callable[[Order], Codec]
    bit_rate: int | None = None
    rates_hz: tuple[int, ...] = RATES_HZ
    light: bool = False
    empty: bool = False

    @property
    def extension(self) -> str:
        return f".{self.name}"

    def open(self, rate_hz: int, *, whole: bool) -> Codec:
        return self.codec(Order(rate_hz=rate_hz, bit_rate=self.bit_rate, whole=whole))


ogg_opus = partial(
    Ffmpeg,
    container="ogg",
    codec="libopus",
    codec_options={"compression_level": "5"},
    container_options={"page_duration": "40000"},  # in µs; the muxer's own choice holds a second of sound back
)
adts_aac = partial(Ffmpeg, container="adts", codec="aac", codec_options={"aac_coder": "fast"})
flac = partial(Ffmpeg, container="flac", codec="flac", container_options={"metadata_header_padding": "0"})

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        row.name: row
        for row in (
            Format("mp3", "audio/mpeg", partial(Mp3, quality=7), bit_rate=128_000),
            Format("opus", "audio/opus", ogg_opus, bit_rate=64_000, rates_hz=OPUS_RATES_HZ),
            Format("aac", "audio/aac", adts_aac, bit_rate=96_000),
            Format("flac", "audio/flac", flac),
            Format("wav", "audio/wav", Wav, light=True, empty=True),
            Format("pcm", "audio/pcm", Raw, light=True, empty=True),
        )
    }
)


def find_format(name: str, rate_hz: int) -> Format:
    """The format of that name, if there is one and it can carry that sample rate."""
    if name not in FORMATS:
        raise InvalidRequest(f"response_format must be one of {', '.join(FORMATS)}.", param="response_format")
    found = FORMATS[name]
    if rate_hz not in found.rates_hz:
        rates = ", ".join(map(str, found.rates_hz))
        raise InvalidRequest(f"sample_rate for {name} must be one of {rates}.", param="sample_rate")
    return found
