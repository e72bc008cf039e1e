"""What Spark is given to go on from, token by token as it was trained.

    by labels    task, TEXT, gender, pitch, speed  |  acoustic values, 32 globals  |  codes ...
    by a voice   task, TEXT                        |  32 globals                   |  codes ...
                 the opening                          the preface                     what is heard

The preface says how the speaker sounds. The model writes it like everything else, but it may as well be given one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from api.engines.spark.levels import Levels
from api.engines.spark.speakers import GLOBALS_A_SPEAKER, Speaker
from api.engines.spark.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Preface:
    """Tokens between a text and its codes, and the speaker whom they describe, in the codec's own numbers."""

    ids: tuple[int, ...]
    speaker: tuple[int, ...]


class Prompts:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def opening(self, text: str, speaker: Speaker, levels: Levels) -> tuple[int, ...]:
        """All that says what is to be spoken, and in which manner."""
        known = self._vocabulary
        said = (*known.markup(speaker.before), *known.text(text))
        content = (known["start_content"], *said, known["end_content"])
        if speaker.label is None:
            return (known["task_tts"], *content)
        style = (known.genders[speaker.label], known.pitches[levels.pitch], known.speeds[levels.speed])
        marks = (known["start_style_label"], known["end_style_label"])
        return (known["task_controllable_tts"], *content, marks[0], *style, marks[1])

    def heading(self, speaker: Speaker) -> int:
        """The token with which a preface begins."""
        return self._vocabulary["start_global_token" if speaker.label is None else "start_acoustic_token"]

    def lead(self, speaker: Speaker) -> tuple[int, ...]:
        """What stands before a speaker's codes where the model has written nothing of it: no values."""
        known = self._vocabulary
        return () if speaker.label is None else (known["start_acoustic_token"], known["end_acoustic_token"])

    def given(self, codes: Sequence[int], values: Sequence[int] = ()) -> Preface:
        """The preface of a speaker whose codes are known; `values` stand before them where labels are used."""
        known = self._vocabulary
        globals_ = [known.globals[code] for code in codes]
        marked = (known["start_global_token"], *globals_, known["end_global_token"], known["start_semantic_token"])
        return Preface((*values, *marked), tuple(codes))

    def written(self, ids: Sequence[int]) -> Preface | None:
        """The preface that the model wrote, up to where codes would begin; None if it is none."""
        known = self._vocabulary
        start = ids.index(known["start_global_token"]) if known["start_global_token"] in ids else -1
        globals_ = ids[start + 1 : start + 1 + GLOBALS_A_SPEAKER]
        whole = len(globals_) == GLOBALS_A_SPEAKER and all(number in known.globals for number in globals_)
        if start < 0 or not whole or tuple(ids[start + 1 + GLOBALS_A_SPEAKER :]) != (known["end_global_token"],):
            return None
        codes = tuple(number - known.globals.start for number in globals_)
        return Preface((*ids, known["start_semantic_token"]), codes)
