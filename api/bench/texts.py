"""Ordinary English of a wanted length: the same seed says the same, another seed something else."""

from random import Random

WHO = (
    "The teacher", "My neighbour", "A young doctor", "The old captain", "Our gardener", "The night watchman",
    "Her brother", "A quiet stranger", "The baker", "Their daughter", "The musician", "An honest lawyer",
    "The carpenter", "His grandmother", "The shepherd", "A tired traveller", "The librarian", "Every child",
)  # fmt: skip
DOES = (
    "remembered", "painted", "carried", "discovered", "repaired", "followed", "admired", "borrowed", "described",
    "forgot", "watched", "collected", "mended", "opened", "sold", "brought home", "photographed", "looked after",
)  # fmt: skip
WHAT = (
    "the wooden bridge", "an empty basket", "the morning paper", "a silver spoon", "the broken clock", "a lantern",
    "a letter from the coast", "the garden wall", "an unusual melody", "the narrow boat", "a heavy curtain",
    "the summer house", "a piece of blue glass", "the village school", "a map of the islands", "the last apples",
)  # fmt: skip
WHERE = (
    "near the river", "behind the station", "at the edge of the wood", "in a crowded market", "under the old oak",
    "on the way to town", "beside the harbour", "in the upper room", "across the valley", "by the kitchen window",
)  # fmt: skip
WHEN = (
    "before the rain began", "while the others slept", "on a cold evening", "after long winters", "without a word",
    "as the bells were ringing", "when nobody was looking", "early in the spring", "in time for supper",
)  # fmt: skip

# A first name that nobody has keeps texts of two words apart too.
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
# The text is cut at the space nearest to its length, so there has to be one behind it.
LONGEST_WORD = 20


def english(chars: int, seed: str) -> str:
    """Sentences of so many characters, give or take half a word."""
    random = Random(seed)
    who = "".join(random.choices(SYLLABLES, k=3)).title()
    sentences, length = [], 0
    while length < chars + LONGEST_WORD:
        parts = (random.choice(words) for words in (DOES, WHAT, WHERE, WHEN))
        sentences.append(f"{who} {' '.join(parts)}.")
        who = random.choice(WHO)
        length += len(sentences[-1]) + 1
    text, end = " ".join(sentences), chars - len(".")
    before, after = text.rfind(" ", 1, end + 1), text.find(" ", end)
    cut = after if before < 0 or after - end < end - before else before
    return text[:cut].rstrip(".") + "."
