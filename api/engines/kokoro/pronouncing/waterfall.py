"""Sounds into phrases of at most 510 phonemes, cut where the reference cuts them."""

from collections.abc import Collection, Iterator, Sequence

from api.engines.kokoro.pronouncing.phrases import MOST_PHONEMES, Phrase, Sound

# Where it is best to cut: after a sentence, then after a half sentence, then after a clause.
_CUTS = (frozenset("!.?…"), frozenset(":;"), frozenset(",—"))
_CLOSING = frozenset(")”")


def phrases(sounds: Sequence[Sound], vocab: Collection[str]) -> Iterator[Phrase]:
    """The sounds as phrases; what the model does not know is left out, and counted."""
    for untrimmed in _groups([piece for sound in sounds for piece in _short(sound)]):
        group = _trimmed(untrimmed)
        full_length = _length(group)
        known = [
            Sound("".join(p for p in sound.phonemes if p in vocab), sound.spoken, sound.space_after)
            for sound in group
        ]
        phrase = Phrase.of(_trimmed(known), full_length)
        if phrase.phonemes:
            yield phrase


def _groups(sounds: Sequence[Sound]) -> Iterator[Sequence[Sound]]:
    waiting: list[Sound] = []
    length = 0
    for sound in sounds:
        # What is left after a cut may still be too long for the next sound: where no sign is near.
        while waiting and length + len(sound.phonemes) > MOST_PHONEMES:
            cut = _cut(waiting, length + len(sound.phonemes))
            yield waiting[:cut]
            waiting = waiting[cut:]
            # The reference forgets the space at the end here, and now and then loses a phoneme by it.
            length = sum(len(left.text) for left in waiting)
        waiting.append(sound)
        length += len(sound.text)
    if waiting:
        yield waiting


def _cut(sounds: Sequence[Sound], reached: int) -> int:
    for signs in _CUTS:
        cut = next((at for at in range(len(sounds), 0, -1) if sounds[at - 1].phonemes in signs), None)
        if cut is None:
            continue
        if cut < len(sounds) and sounds[cut].phonemes in _CLOSING:
            cut += 1
        if reached - _length(sounds[:cut]) <= MOST_PHONEMES:
            return cut
    return len(sounds)


def _short(sound: Sound) -> Iterator[Sound]:
    """A sound that alone is too long for the model, in pieces."""
    rest = sound.phonemes
    while len(rest) > MOST_PHONEMES:
        space = rest.rfind(" ", 1, MOST_PHONEMES)
        cut = MOST_PHONEMES if space < 0 else space
        yield Sound(rest[:cut], sound.spoken)
        rest = rest[cut:].lstrip(" ")
    yield Sound(rest, sound.spoken, sound.space_after)


def _length(sounds: Sequence[Sound]) -> int:
    return len("".join(sound.text for sound in sounds).strip())


def _trimmed(sounds: Sequence[Sound]) -> Sequence[Sound]:
    """Without spaces before the first and after the last phoneme."""
    audible = [at for at, sound in enumerate(sounds) if sound.phonemes.strip()]
    if not audible:
        return ()
    first, last = sounds[audible[0]], sounds[audible[-1]]
    trimmed = list(sounds[audible[0] : audible[-1] + 1])
    trimmed[0] = Sound(first.phonemes.lstrip(), first.spoken, first.space_after)
    trimmed[-1] = Sound(trimmed[-1].phonemes.rstrip(), last.spoken)
    return trimmed
