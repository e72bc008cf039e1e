"""Small language models of random weights, in the published layout, and asks of them."""

from pathlib import Path

import pytest

from api.engines.lm import GREEDY, Ask, LanguageModel, Sampling

VOCABULARY = 640
STOP = frozenset({2})
# A width of 64 a head, as the real ones have: vLLM's kernels know no narrow ones.
TINY = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 4096,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": True,
}


def publish_qwen(folder: Path, spread: float = 0.2, seed: int = 1, **sizes: object) -> Path:
    """A Qwen2 with tied embeddings, and with biases that matter. Skips where its libraries are not installed."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.Qwen2Config(**{**TINY, **sizes}, initializer_range=spread)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = transformers.Qwen2ForCausalLM(config).float()
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                torch.nn.init.normal_(parameter, std=spread)
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder


def prompt(number: int, length: int | None = None) -> tuple[int, ...]:
    """No two alike, of mixed lengths."""
    length = 3 + number * 7 % 90 if length is None else length
    return tuple(3 + (number * 31 + place * place * 7) % (VOCABULARY - 3) for place in range(length))


def ask(number: int = 0, most: int = 24, sampling: Sampling = GREEDY, **fields: object) -> Ask:
    given: dict[str, object] = {"prompt": prompt(number), "stop": frozenset(), "seed": number, **fields}
    return Ask(most=most, sampling=sampling, **given)  # type: ignore[arg-type]


async def written(model: LanguageModel, asked: Ask) -> list[int]:
    return [token async for tokens in model.write(asked) for token in tokens.ids]
