"""Which files are clips, by their first bytes: no name and no declared type is believed."""

KINDS = ("WAV", "FLAC", "MP3")


def kind_of(clip: bytes) -> str | None:
    """One of KINDS, or None."""
    if clip[:4] == b"RIFF" and clip[8:12] == b"WAVE":
        return "WAV"
    if clip[:4] == b"fLaC":
        return "FLAC"
    if clip[:3] == b"ID3" or _is_mpeg_frame(clip):
        return "MP3"
    return None


def _is_mpeg_frame(clip: bytes) -> bool:
    """Eleven bits of sync, then layer III of some version, with a bit rate and a sample rate that exist."""
    if len(clip) < 4 or clip[0] != 0xFF or clip[1] & 0xE0 != 0xE0:
        return False
    version, layer = clip[1] >> 3 & 3, clip[1] >> 1 & 3
    return version != 1 and layer == 1 and clip[2] >> 4 not in (0, 15) and clip[2] >> 2 & 3 != 3
