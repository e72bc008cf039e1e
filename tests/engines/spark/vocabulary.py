"""Spark's tokens in their published order, behind a small base vocabulary: one token a byte."""

import json
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def _row(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"<|{name}_{number}|>" for number in range(count))


SPARK: tuple[str, ...] = (
    *_row("bicodec_global", 4096),
    *_row("bicodec_semantic", 8192),
    *_row("pitch_value", 1001),
    *_row("pitch_var_value", 11),
    *_row("pitch_label", 5),
    *_row("pitch_var_label", 5),
    *_row("speed_value", 11),
    *_row("speed_label", 5),
    *_row("loudness_value", 31),
    *_row("loudness_label", 5),
    *_row("age", 5),
    *_row("gender", 3),
    *_row("emotion", 101),
    *(
        f"<|{name}|>"
        for name in (
            *("task_vc", "task_tts", "task_asr", "task_s2s", "task_t2s", "task_cap", "task_understand"),
            *("task_controllable_tts", "task_prompt_tts", "task_edit"),
            *("start_content", "start_style_label", "start_style_prompt", "start_acoustic_token"),
            *("start_global_token", "start_semantic_token"),
            *("end_content", "end_style_label", "end_style_prompt", "end_acoustic_token"),
            *("end_global_token", "end_semantic_token"),
        )
    ),
)


def tokenizer() -> Tokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    made.add_tokens([AddedToken(name, special=False, normalized=False) for name in SPARK])
    return made


def publish_tokenizer(folder: Path) -> dict[str, int]:
    """Writes tokenizer.json and its configuration; tells every token's id."""
    made = tokenizer()
    made.save(str(folder / "tokenizer.json"))
    described = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "model_max_length": 32768,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(described))
    return made.get_vocab()
