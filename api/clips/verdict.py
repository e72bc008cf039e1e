"""How the process that reads a clip ends, and what that means. Numbers that no crash and no Python error has."""

from enum import IntEnum

RATE_HZ = 16_000
SHORTEST_S, LONGEST_S = 1, 30
SLOWEST_HZ, FASTEST_HZ = 8_000, 192_000
MOST_CHANNELS = 8


class Verdict(IntEnum):
    """The exit code of the process."""

    HEARD = 0
    NO_SOUND = 64
    OTHER_KIND = 65
    OTHER_SHAPE = 66
    TOO_LONG = 67
    TOO_SHORT = 68
    SILENT = 69


MESSAGES = {
    Verdict.NO_SOUND: "The clip cannot be decoded.",
    Verdict.OTHER_KIND: "The clip is not what its first bytes say.",
    Verdict.OTHER_SHAPE: f"A clip has {SLOWEST_HZ} to {FASTEST_HZ} Hz and at most {MOST_CHANNELS} channels.",
    Verdict.TOO_LONG: f"The clip is longer than {LONGEST_S} s.",
    Verdict.TOO_SHORT: f"The clip is shorter than {SHORTEST_S} s.",
    Verdict.SILENT: "Nothing is heard in the clip.",
}
