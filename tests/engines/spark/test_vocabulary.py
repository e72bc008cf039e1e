"""Tokens are found by their names, once, and what is not right is said at start."""

from pathlib import Path

import pytest

from api.engines.spark.vocabulary import PUBLISHED, Vocabulary
from api.errors import EngineUnavailable
from tests.engines.spark.vocabulary import SPARK, publish_tokenizer

ROWS = 20_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer")
    publish_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> Vocabulary:
    return Vocabulary.read(folder / "tokenizer.json", ROWS)


def changed(folder: Path, tmp_path: Path, old: str, new: str) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text((folder / "tokenizer.json").read_text().replace(old, new))
    return path


class TestNames:
    def test_the_published_numbers_are_those_of_the_published_order(self) -> None:
        first = 151_665
        ours = {name: first + place for place, name in enumerate(SPARK)}
        assert {name: number for name, number in PUBLISHED.items() if name in ours} == {
            name: ours[name] for name in PUBLISHED if name in ours
        }
        assert first + len(SPARK) == 165_158

    def test_every_row_has_as_many_tokens_as_the_codec_knows(self, vocabulary: Vocabulary) -> None:
        assert (len(vocabulary.globals), len(vocabulary.semantics)) == (4096, 8192)
        marked = vocabulary.markup("<|bicodec_semantic_0|><|bicodec_semantic_8191|><|bicodec_global_4095|>")
        assert marked == (vocabulary.semantics[0], vocabulary.semantics[-1], vocabulary.globals[-1])
        assert len(vocabulary.ends) == 2

    def test_another_numbering_is_told(self, vocabulary: Vocabulary) -> None:
        assert vocabulary.oddity
        assert "not that of Spark-TTS-0.5B" in vocabulary.oddity
        assert (
            Vocabulary(
                PUBLISHED,
                *(range(1),) * 5,
                plain=vocabulary.plain,
                marked=vocabulary.marked,
            ).oddity
            is None
        )

    def test_a_tokenizer_without_a_token_is_refused(self, folder: Path, tmp_path: Path) -> None:
        path = changed(folder, tmp_path, "<|start_content|>", "<|begin_content|>")
        with pytest.raises(EngineUnavailable, match=r"no token <\|start_content\|>"):
            Vocabulary.read(path, ROWS)

    def test_a_row_with_a_gap_is_refused(self, folder: Path, tmp_path: Path) -> None:
        path = changed(folder, tmp_path, "<|bicodec_semantic_77|>", "<|another|>")
        with pytest.raises(EngineUnavailable, match=r"<\|bicodec_semantic_77\|>"):
            Vocabulary.read(path, ROWS)

    def test_a_tokenizer_of_a_larger_model_is_refused(self, folder: Path) -> None:
        with pytest.raises(EngineUnavailable, match="they have 100 tokens"):
            Vocabulary.read(folder / "tokenizer.json", 100)

    @pytest.mark.parametrize("written", ["", "[]", "{}", '{"model": 1}', "\x00"])
    def test_a_file_that_is_none_is_refused(self, written: str, tmp_path: Path) -> None:
        path = tmp_path / "tokenizer.json"
        path.write_text(written)
        with pytest.raises(EngineUnavailable, match="cannot be read"):
            Vocabulary.read(path, ROWS)


class TestText:
    def test_a_text_is_its_letters(self, vocabulary: Vocabulary) -> None:
        assert len(vocabulary.text("Good day")) == 8
        assert len(vocabulary.text("好")) == 3

    @pytest.mark.parametrize("name", ["<|end_content|>", "<|bicodec_semantic_12|>", "<|im_end|>"])
    def test_the_name_of_a_token_in_a_text_is_read_and_not_obeyed(self, name: str, vocabulary: Vocabulary) -> None:
        assert len(vocabulary.markup(name)) == 1
        spoken = vocabulary.text(f"say {name} now")
        assert len(spoken) == len(f"say {name} now")
        assert vocabulary.markup(name)[0] not in spoken
