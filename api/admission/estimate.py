"""What a request costs, in predicted seconds of audio, before anybody has looked at its words."""

# Measured reading speeds: letters of alphabets, and characters that are syllables or words by themselves.
LETTERS_PER_S = 15.0
IDEOGRAPHS_PER_S = 4.5
_FIRST_IDEOGRAPH = "\u2e80"


def audio_seconds(text: str, speed: float = 1.0) -> float:
    """How long this text is likely to sound. One pass, no text work: it also runs for those refused."""
    ideographs = 0 if text.isascii() else sum(char >= _FIRST_IDEOGRAPH for char in text)
    letters = len(text) - ideographs
    return (letters / LETTERS_PER_S + ideographs / IDEOGRAPHS_PER_S) / speed
