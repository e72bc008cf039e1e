"""The runtime of our own: equal to transformers' own loop, and to itself in any company."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from api.engines.lm import Ask, Ending, Sampling, open_language_model
from api.engines.lm.rows import RowsModel
from api.engines.lm.rows.attention import Memory, Step
from api.engines.lm.rows.row import Span
from api.errors import EngineFailed, EngineUnavailable, InputTooLong
from api.settings import LanguageModels, Settings
from tests.engines.lm.models import VOCABULARY, ask, prompt, publish_qwen, written

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SETTINGS = Settings(lm=LanguageModels(runtime="transformers", device="cpu", most_at_once=8, threads=1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_qwen(tmp_path_factory.mktemp("qwen"))


@pytest_asyncio.fixture
async def model(folder: Path) -> AsyncIterator[RowsModel]:
    opened = open_language_model(folder, SETTINGS, context=512)
    assert isinstance(opened, RowsModel)
    await opened.start()
    yield opened
    await opened.stop()


def reference(folder: Path, asked: Sequence[Ask]) -> list[list[int]]:
    """transformers' own loop, one prompt after the other."""
    whole = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    written = []
    for one in asked:
        ids = torch.tensor([one.prompt])
        made = whole.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=one.most,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        written.append(made[0, len(one.prompt) :].tolist())
    return written


async def gone(model: RowsModel) -> None:
    """Until nobody is in the batch."""
    for _ in range(500):
        if not model.running:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("somebody is still in the batch")


async def test_greedy_tokens_are_the_reference_s_alone_and_among_many(folder: Path, model: RowsModel) -> None:
    asked = [ask(number) for number in range(32)]
    expected = reference(folder, asked)
    assert len({tuple(tokens) for tokens in expected}) == 32
    assert [await written(model, one) for one in asked[:4]] == expected[:4]
    assert await asyncio.gather(*(written(model, one) for one in asked)) == expected


async def test_a_long_prompt_is_read_in_pieces_and_means_the_same(folder: Path, model: RowsModel) -> None:
    long = ask(5, prompt=prompt(5, 333))
    beside = [ask(number, most=60) for number in range(4)]
    tokens, *_ = await asyncio.gather(written(model, long), *(written(model, one) for one in beside))
    assert [tokens] == reference(folder, [long])


async def test_looking_back_together_as_on_a_gpu_sees_the_same(
    folder: Path, model: RowsModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [ask(number, most=10 + number) for number in range(16)]

    def together(spans: Sequence[Span], memory: Memory, *, together: bool) -> Step:
        assert not together  # what a CPU does by itself
        return Step(spans, memory, together=True)

    monkeypatch.setattr("api.engines.lm.rows.network.Step", together)
    assert await asyncio.gather(*(written(model, one) for one in asked)) == reference(folder, asked)


async def test_a_seed_draws_the_same_tokens_whoever_else_is_there(model: RowsModel) -> None:
    assert model.repeats
    mixed = [ask(n, 40, Sampling(0.9 + n % 3 / 5, (50, 0, 7)[n % 3], (0.95, 1.0)[n % 2])) for n in range(24)]
    alone = [await written(model, one) for one in mixed[:6]]
    together = await asyncio.gather(*(written(model, one) for one in mixed))
    others = await asyncio.gather(*(written(model, one) for one in [*mixed[3:6], *mixed[12:], *mixed[:3]]))
    assert together[:6] == alone
    assert [*others[-3:], *others[:3]] == alone
    assert await written(model, ask(0, 40, mixed[0].sampling, seed=99)) != alone[0]


async def test_only_what_is_allowed_is_drawn(model: RowsModel) -> None:
    allowed, stop = range(100, 120), frozenset({2, 110, 630})
    asked = [ask(n, 60, Sampling(3.0, 0, 1.0), allowed=allowed, stop=stop, least=n % 2 * 30) for n in range(12)]
    heard = await asyncio.gather(*(written(model, one) for one in asked))
    assert all(token in allowed and token not in stop for tokens in heard for token in tokens)
    assert all(len(tokens) >= 30 for tokens in heard[1::2])
    assert any(len(tokens) < 30 for tokens in heard[::2])


async def test_the_likeliest_of_the_allowed_is_the_likeliest_of_all_where_that_is_allowed(
    model: RowsModel,
) -> None:
    whole = await written(model, ask(1))
    assert await written(model, ask(1, allowed=range(VOCABULARY))) == whole
    assert await written(model, ask(1, allowed=range(min(whole), max(whole) + 1))) == whole


async def test_it_ends_before_a_stop_token_or_after_the_most(model: RowsModel) -> None:
    whole = await written(model, ask(2))
    at = next(place for place, token in enumerate(whole) if place > 3 and token not in whole[:place])
    heard = [tokens async for tokens in model.write(ask(2, stop=frozenset({whole[at]})))]
    assert [token for tokens in heard for token in tokens.ids] == whole[:at]
    assert heard[-1].ending is Ending.STOP
    ended = [tokens.ending async for tokens in model.write(ask(2))]
    assert ended == [None] * 23 + [Ending.LENGTH]


async def test_who_leaves_frees_the_slot_for_who_waits(model: RowsModel) -> None:
    async with asyncio.TaskGroup() as group:
        streams = [model.write(ask(number, most=400)) for number in range(8)]
        for stream in streams:
            group.create_task(anext(stream))
    waiting = asyncio.create_task(written(model, ask(9, most=3)))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    assert model.running == 8
    await streams[3].aclose()
    async with asyncio.timeout(5):
        assert len(await waiting) == 3
    for stream in streams:
        await stream.aclose()
    await gone(model)


async def test_the_urgent_go_first(model: RowsModel) -> None:
    order: list[str] = []

    async def note(name: str, *, urgent: bool) -> None:
        await written(model, ask(3, most=30, urgent=urgent))
        order.append(name)

    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(written(model, ask(number, most=100)))
        await asyncio.sleep(0)
        for number in range(8):
            group.create_task(note(f"patient {number}", urgent=False))
        await asyncio.sleep(0)
        for _ in range(8):
            group.create_task(note("urgent", urgent=True))
    assert order[:8] == ["urgent"] * 8


async def test_what_is_too_long_or_unknown_meets_nobody(model: RowsModel) -> None:
    async with aclosing(model.write(ask(0, prompt=prompt(1, 500)))) as stream:
        with pytest.raises(InputTooLong, match="500 tokens and an answer of up to 24, where it holds 512"):
            await anext(stream)
    for wrong in (
        ask(prompt=(1, VOCABULARY)),
        ask(prompt=()),
        ask(stop=frozenset({-1})),
        ask(allowed=range(3, 900)),
    ):
        with pytest.raises(EngineFailed):
            await written(model, wrong)
    assert model.running == 0


async def test_a_row_that_comes_to_no_number_fails_alone(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][77] = float("nan")
    weights = {**weights, "lm_head.weight": torch.nan_to_num(weights["model.embed_tokens.weight"])}
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    config = (folder / "config.json").read_text()
    (tmp_path / "config.json").write_text(
        config.replace('"tie_word_embeddings": true', '"tie_word_embeddings": false')
    )
    poisoned = open_language_model(tmp_path, SETTINGS, context=512)
    await poisoned.start()
    try:
        well = [ask(number, allowed=range(100, 600)) for number in range(1, 8)]
        ill = ask(0, prompt=(5, 77, 5))
        *heard, failed = await asyncio.gather(
            *(written(poisoned, one) for one in [*well, ill]), return_exceptions=True
        )
        assert isinstance(failed, EngineFailed)
        assert all(isinstance(tokens, list) and len(tokens) == 24 for tokens in heard)
        assert await written(poisoned, well[0]) == heard[0]
    finally:
        await poisoned.stop()


async def test_after_the_stop_everybody_is_told(folder: Path) -> None:
    model = open_language_model(folder, SETTINGS, context=512)
    await model.start()
    running = [asyncio.create_task(written(model, ask(number, most=400))) for number in range(12)]
    await asyncio.sleep(0.05)
    await model.stop()
    for task in running:
        with pytest.raises(EngineFailed):
            await task
    with pytest.raises(EngineFailed):
        await written(model, ask())


async def test_a_broken_folder_is_told_in_words(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"There is no .*config.json"):
        open_language_model(tmp_path, SETTINGS)
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(EngineUnavailable, match="weights are missing"):
        open_language_model(tmp_path, SETTINGS)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors at all")
    with pytest.raises(EngineUnavailable, match=r"model.safetensors holds no weights that can be read"):
        open_language_model(tmp_path, SETTINGS)
    whole = (folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-7])
    with pytest.raises(EngineUnavailable, match="it is cut off"):
        open_language_model(tmp_path, SETTINGS)
    shutil.copy(folder / "model.safetensors", tmp_path)
    config = (folder / "config.json").read_text().replace('"hidden_size": 128', '"hidden_size": 256')
    (tmp_path / "config.json").write_text(config)
    model = open_language_model(tmp_path, SETTINGS)
    with pytest.raises(EngineUnavailable, match="holds no model that can be loaded"):
        await model.start()
