"""What a request costs, in predicted seconds of audio, before anybody has looked at its words."""

import time

# Letters of alphabets, and characters that are syllables or words by themselves: measured reading speeds, where
# learning begins.
LETTERS_PER_S = 15.0
IDEOGRAPHS_PER_S = 4.5
_FIRST_IDEOGRAPH = "\u2e80"
LEARNING = 0.05
# A first sound says less of the next one than a text does of its length: it is learned quicker, and forgotten.
LEARNING_FIRST_SOUND = 0.1
BELIEVED_S = 30.0
# Shorter answers say more about pauses than about speed.
LEAST_LEARNED_S = 1.0


def audio_seconds(text: str, speed: float = 1.0) -> float:
    """How long this text is likely to sound. One pass, no text work: it also runs for those refused."""
    ideographs = 0 if text.isascii() else sum(char >= _FIRST_IDEOGRAPH for char in text)
    letters = len(text) - ideographs
    return (letters / LETTERS_PER_S + ideographs / IDEOGRAPHS_PER_S) / speed


class Estimator:
    """The same, corrected for each language by what its texts turned out to take."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def cost_s(self, text: str, language: str, speed: float) -> float:
        return self._factors.get(language, 1.0) * audio_seconds(text, speed)

    def learn(self, language: str, guessed_s: float, sounded_s: float) -> None:
        """`guessed_s` is what `audio_seconds` said of a text that then sounded for `sounded_s`."""
        if guessed_s >= LEAST_LEARNED_S:
            seen = min(5.0, max(0.2, sounded_s / guessed_s))
            self._factors[language] = (1 - LEARNING) * self._factors.get(language, 1.0) + LEARNING * seen


class FirstSound:
    """How long those let in usually wait for their first sound; nothing is known at first.

    What nobody has confirmed for a while is forgotten: a slow start would otherwise keep everybody out for ever.
    """

    def __init__(self) -> None:
        self._usual_s = 0.0
        self._learned_at = -BELIEVED_S

    @property
    def usual_s(self) -> float:
        return self._usual_s if time.monotonic() - self._learned_at < BELIEVED_S else 0.0

    def learn(self, took_s: float) -> None:
        weight = LEARNING_FIRST_SOUND if self.usual_s else 1.0
        self._usual_s = (1 - weight) * self._usual_s + weight * took_s
        self._learned_at = time.monotonic()
