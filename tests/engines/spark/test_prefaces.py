"""A speaker is described once: by the model, in its own tokens, and kept."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.engines.lm import Ask
from api.engines.spark.levels import Levels
from api.engines.spark.prefaces import Kept, Prefaces
from api.engines.spark.prompts import Prompts
from api.engines.spark.speakers import Speaker
from api.engines.spark.vocabulary import Vocabulary
from api.errors import EngineFailed
from api.types import Voice
from tests.engines.spark.scripted import Script, Scripted
from tests.engines.spark.vocabulary import publish_tokenizer

ANNA = Speaker(Voice("anna", "Anna", "en-us", "female"), label=0)
ASHA = Speaker(Voice("asha", "Asha", "hi", "female"), before="<|task_vc|>")


@dataclass
class Stage:
    vocabulary: Vocabulary
    prompts: Prompts
    kept: Kept

    def prefaces(self, script: Script) -> tuple[Prefaces, Scripted]:
        model = Scripted(script)
        return Prefaces(model, self.vocabulary, self.prompts, self.kept), model

    def marked(self, written: str) -> tuple[int, ...]:
        return self.vocabulary.markup(written)

    def describing(self, ask: Ask) -> tuple[Sequence[int], bool]:
        """What Spark writes: values where it is to be by labels, then a speaker who follows from the seed."""
        codes = "".join(f"<|bicodec_global_{(ask.seed + place) % 4096}|>" for place in range(32))
        values = "<|pitch_value_200|><|speed_value_4|><|end_acoustic_token|>"
        globals_ = f"{codes}<|end_global_token|>"
        if ask.prompt[-1] == self.vocabulary["start_global_token"]:
            return self.marked(globals_), True
        if self.vocabulary["start_global_token"] in ask.stop:
            return self.marked(values), True
        return self.marked(f"{values}<|start_global_token|>{globals_}"), True


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    folder = tmp_path_factory.mktemp("tokenizer")
    publish_tokenizer(folder)
    return Vocabulary.read(folder / "tokenizer.json", 20_000)


@pytest.fixture
def stage(vocabulary: Vocabulary, tmp_path: Path) -> Stage:
    return Stage(vocabulary, Prompts(vocabulary), Kept(tmp_path / "kept.json", "these weights", 20_000))


class TestPrompts:
    def test_by_labels_it_is_what_spark_was_trained_on(self, stage: Stage) -> None:
        opening = stage.prompts.opening("Hi.", ANNA, Levels(pitch=3, speed=1))
        assert opening == (
            *stage.marked("<|task_controllable_tts|><|start_content|>"),
            *stage.vocabulary.text("Hi."),
            *stage.marked("<|end_content|><|start_style_label|><|gender_0|><|pitch_label_3|><|speed_label_1|>"),
            *stage.marked("<|end_style_label|>"),
        )

    def test_a_taught_speaker_is_named_before_the_text(self, stage: Stage) -> None:
        opening = stage.prompts.opening("Hi.", ASHA, Levels())
        assert opening == (
            *stage.marked("<|task_tts|><|start_content|><|task_vc|>"),
            *stage.vocabulary.text("Hi."),
            *stage.marked("<|end_content|>"),
        )


class TestWriting:
    async def test_the_model_describes_who_speaks(self, stage: Stage) -> None:
        prefaces, model = stage.prefaces(stage.describing)
        made = await prefaces.of(ANNA, Levels())
        assert len(made.speaker) == 32
        assert made.ids[0] == stage.vocabulary["start_acoustic_token"]
        assert made.ids[-1] == stage.vocabulary["start_semantic_token"]
        assert len(made.ids) == 4 + 1 + 32 + 1 + 1
        assert model.asks[0].most < 64

    async def test_a_taught_speaker_has_no_values(self, stage: Stage) -> None:
        prefaces, _ = stage.prefaces(stage.describing)
        made = await prefaces.of(ASHA, Levels())
        assert made.ids[0] == stage.vocabulary["start_global_token"]
        assert len(made.ids) == 1 + 32 + 1 + 1

    async def test_once_for_all_who_ask_at_the_same_time(self, stage: Stage) -> None:
        prefaces, model = stage.prefaces(stage.describing)
        made = await asyncio.gather(*(prefaces.of(ANNA, Levels()) for _ in range(5)))
        assert len(model.asks) == len(set(made)) == 1

    async def test_who_speaks_faster_is_the_same_person(self, stage: Stage) -> None:
        prefaces, _ = stage.prefaces(stage.describing)
        calm, quick, high = [await prefaces.of(ANNA, levels) for levels in (Levels(), Levels(speed=4), Levels(4))]
        assert quick.speaker == calm.speaker
        assert high.speaker != calm.speaker

    async def test_known_codes_are_not_asked_for(self, stage: Stage) -> None:
        prefaces, model = stage.prefaces(stage.describing)
        known = Speaker(ASHA.voice, codes=tuple(range(32)))
        made = await prefaces.of(known, Levels())
        assert (made.speaker, model.asks) == (tuple(range(32)), [])

    async def test_another_seed_is_tried_where_it_writes_something_else(self, stage: Stage) -> None:
        first: list[int] = []

        def stumbling(ask: Ask) -> tuple[Sequence[int], bool]:
            first.append(ask.seed)
            return stage.describing(ask) if len(first) > 2 else (stage.marked("<|bicodec_semantic_1|>"), True)

        prefaces, _ = stage.prefaces(stumbling)
        assert len((await prefaces.of(ANNA, Levels())).speaker) == 32
        assert len(set(first)) == 3

    async def test_a_model_that_describes_nobody_fails_and_is_asked_again(self, stage: Stage) -> None:
        broken = [True]

        def mute(ask: Ask) -> tuple[Sequence[int], bool]:
            return ((), True) if broken[0] else stage.describing(ask)

        prefaces, _ = stage.prefaces(mute)
        with pytest.raises(EngineFailed, match="could not describe"):
            await prefaces.of(ANNA, Levels())
        broken[0] = False
        assert await prefaces.of(ANNA, Levels())

    @pytest.mark.parametrize("levels", [Levels(), Levels(speed=4)])
    async def test_a_model_that_describes_nobody_by_itself_is_led(self, stage: Stage, levels: Levels) -> None:
        def babbling(ask: Ask) -> tuple[Sequence[int], bool]:
            if ask.allowed is None:
                return stage.marked("<|bicodec_semantic_1|>"), True
            return [ask.allowed[(ask.seed + place) % 4096] for place in range(99)], False

        prefaces, model = stage.prefaces(babbling)
        made = await prefaces.of(ANNA, levels)
        assert prefaces.led
        assert stage.kept.get(f"anna/2/{levels.speed}") is None
        assert len(set(made.speaker)) == 32
        marks = stage.marked("<|start_acoustic_token|><|end_acoustic_token|><|start_global_token|>")
        assert made.ids == stage.prompts.given(made.speaker, marks[:2]).ids
        [led] = [ask for ask in model.asks if ask.allowed]
        assert led.prompt[-3:] == marks
        asked = len(model.asks)
        assert len((await prefaces.of(ASHA, Levels())).speaker) == 32
        assert len(model.asks) == asked + 2

    async def test_who_leaves_takes_nothing_from_the_others(self, stage: Stage) -> None:
        prefaces, model = stage.prefaces(stage.describing)
        leaving = asyncio.create_task(prefaces.of(ANNA, Levels()))
        staying = asyncio.create_task(prefaces.of(ANNA, Levels()))
        await asyncio.sleep(0)
        leaving.cancel()
        assert await staying
        assert len(model.asks) == 1

    async def test_a_fresh_one_follows_from_text_and_seed(self, stage: Stage) -> None:
        prefaces, _ = stage.prefaces(stage.describing)
        made = [await prefaces.fresh(ANNA, Levels(), text, seed) for text, seed in (("a", 1), ("a", 1), ("b", 1))]
        assert made[0] == made[1] != made[2]


class TestKeeping:
    async def test_the_next_start_asks_nothing(self, stage: Stage, tmp_path: Path) -> None:
        prefaces, _ = stage.prefaces(stage.describing)
        made = await prefaces.of(ANNA, Levels())
        stage.kept = Kept(tmp_path / "kept.json", "these weights", 20_000)
        again, model = stage.prefaces(stage.describing)
        assert await again.of(ANNA, Levels()) == made
        assert model.asks == []

    async def test_other_weights_have_other_speakers(self, stage: Stage, tmp_path: Path) -> None:
        await stage.prefaces(stage.describing)[0].of(ANNA, Levels())
        assert Kept(tmp_path / "kept.json", "other weights", 20_000).get("anna/2/2") is None

    @pytest.mark.parametrize(
        "preface",
        [{"ids": [1], "speaker": [4096]}, {"ids": [99_999], "speaker": []}, {"ids": ["1"]}, [], "x", None],
    )
    async def test_a_file_with_anything_else_in_it_is_passed_over(self, preface: object, tmp_path: Path) -> None:
        path = tmp_path / "kept.json"
        path.write_text(json.dumps({"model": "these weights", "prefaces": {"anna/2/2": preface}}))
        assert Kept(path, "these weights", 20_000).get("anna/2/2") is None

    async def test_where_nothing_can_be_written_it_is_remembered_all_the_same(self, stage: Stage) -> None:
        stage.kept = Kept(Path("/proc/none/kept.json"), "these weights", 20_000)
        prefaces, model = stage.prefaces(stage.describing)
        assert await prefaces.of(ANNA, Levels()) == await prefaces.of(ANNA, Levels())
        assert len(model.asks) == 1
