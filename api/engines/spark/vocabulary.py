"""Spark's tokens: each looked up by its name once, when the model is loaded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from api.errors import EngineUnavailable

GLOBALS, SEMANTICS, LEVELS = 4096, 8192, 5
# What the published tokenizer calls them. Another numbering may be right for other weights, and is told.
PUBLISHED: Mapping[str, int] = {
    "<|im_end|>": 151_645,
    "<|bicodec_global_0|>": 151_665,
    "<|bicodec_semantic_0|>": 155_761,
    "<|pitch_label_0|>": 164_965,
    "<|speed_label_0|>": 164_986,
    "<|gender_0|>": 165_032,
    "<|task_tts|>": 165_137,
    "<|task_controllable_tts|>": 165_143,
    "<|start_content|>": 165_146,
    "<|start_style_label|>": 165_147,
    "<|start_acoustic_token|>": 165_149,
    "<|start_global_token|>": 165_150,
    "<|start_semantic_token|>": 165_151,
    "<|end_content|>": 165_152,
    "<|end_style_label|>": 165_153,
    "<|end_acoustic_token|>": 165_155,
    "<|end_global_token|>": 165_156,
    "<|end_semantic_token|>": 165_157,
}


@dataclass(frozen=True)
class Vocabulary:
    """`globals` and `semantics` are the ids of the codec's tokens: a code is an id less the first of its row."""

    ids: Mapping[str, int]
    globals: range
    semantics: range
    pitches: range
    speeds: range
    genders: range
    plain: Tokenizer  # knows no token by its name
    marked: Tokenizer  # as published

    @classmethod
    def read(cls, path: Path, rows: int) -> "Vocabulary":
        """`rows`: as many tokens the model has. Takes a second. Raises EngineUnavailable with what is wrong."""
        try:
            described = json.loads(path.read_text())
            marked = Tokenizer.from_str(json.dumps(described))
            # A caller's text may hold the name of a token. It must be read out, not obeyed.
            plain = Tokenizer.from_str(json.dumps(described | {"added_tokens": [], "post_processor": None}))
        except Exception as error:  # the tokenizer's library raises nothing narrower
            raise EngineUnavailable(f"{path} cannot be read: {error}") from error
        ids = {name: _id(marked, name, path) for name in PUBLISHED}
        if beyond := next((name for name, number in ids.items() if number >= rows), None):
            raise EngineUnavailable(f"{path} is not of these weights: they have {rows} tokens, and no {beyond}.")
        return cls(
            ids,
            globals=_row(marked, "bicodec_global", GLOBALS, path),
            semantics=_row(marked, "bicodec_semantic", SEMANTICS, path),
            pitches=_row(marked, "pitch_label", LEVELS, path),
            speeds=_row(marked, "speed_label", LEVELS, path),
            genders=_row(marked, "gender", 2, path),
            plain=plain,
            marked=marked,
        )

    def __getitem__(self, name: str) -> int:
        return self.ids[f"<|{name}|>"]

    @cached_property
    def ends(self) -> frozenset[int]:
        """What ends the speech."""
        return frozenset((self["im_end"], self["end_semantic_token"]))

    def text(self, said: str) -> tuple[int, ...]:
        """A text to be read out, whatever is written in it."""
        return tuple(self.plain.encode(said, add_special_tokens=False).ids)

    def markup(self, written: str) -> tuple[int, ...]:
        """What whoever runs the server wrote: names of tokens in it are tokens."""
        return tuple(self.marked.encode(written, add_special_tokens=False).ids)

    @property
    def oddity(self) -> str | None:
        """In what it is not numbered as the published model's, for whoever runs the server."""
        for name, known in PUBLISHED.items():
            if self.ids[name] != known:
                return (
                    f"its tokenizer is not that of Spark-TTS-0.5B ({name} is {self.ids[name]} and not {known}), "
                    "which is right only if the weights are others too"
                )
        return None


def _id(tokenizer: Tokenizer, name: str, path: Path) -> int:
    found = tokenizer.token_to_id(name)
    if found is None:
        raise EngineUnavailable(f"{path} is not that of a Spark: it has no token {name}.")
    return int(found)


def _row(tokenizer: Tokenizer, name: str, count: int, path: Path) -> range:
    """The ids of NAME_0, NAME_1 and so on, which follow upon each other."""
    first = _id(tokenizer, f"<|{name}_0|>", path)
    for number in range(count):
        token = f"<|{name}_{number}|>"
        if _id(tokenizer, token, path) != first + number:
            raise EngineUnavailable(f"{path} is not that of a Spark: {token} does not follow upon the one before.")
    return range(first, first + count)
