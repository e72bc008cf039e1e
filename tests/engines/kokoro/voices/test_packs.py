"""Voices by id, and mixed."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from api.engines.kokoro.voices import Packs
from api.engines.kokoro.voices.mixes import MOST_VOICES, is_mix, parse_mix
from api.engines.voices import OPENAI
from api.errors import EngineFailed, InvalidRequest, UnknownVoice
from tests.engines.kokoro.stage import narrow_config

NAMES = ("af_bella", "af_sky", "am_adam", "bf_emma", "jf_alpha")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("voices")
    dice = torch.Generator().manual_seed(1)
    for name in NAMES:
        torch.save(torch.randn(510, 1, 256, generator=dice), folder / f"{name}.pt")
    return folder


@pytest.fixture(scope="module")
def packs(folder: Path) -> Packs:
    return Packs(folder, narrow_config())


def published(folder: Path, name: str) -> Any:
    return torch.load(folder / f"{name}.pt", weights_only=True)


class TestVoices:
    def test_each_number_of_phonemes_has_its_style(self, folder: Path, packs: Packs) -> None:
        pack = published(folder, "af_bella")
        for phonemes in (1, 2, 255, 510):
            assert torch.equal(packs.style("af_bella", phonemes), pack[phonemes - 1, 0])

    def test_a_name_says_language_and_gender(self, packs: Packs) -> None:
        assert packs.names == NAMES
        voice = packs.voice("bf_emma")
        assert voice is not None
        assert (voice.id, voice.name, voice.language, voice.gender) == ("bf_emma", "Emma", "en-gb", "female")

    @pytest.mark.parametrize(
        "name",
        ["", "nobody", "../voices/af_bella", "af_bella.pt", "/etc/passwd", "af_bella\x00", "AF_BELLA", "a/b"],
    )
    def test_what_is_no_name_in_the_folder_is_no_voice(self, name: str, packs: Packs) -> None:
        assert packs.voice(name) is None
        with pytest.raises(UnknownVoice):
            packs.style(name, 10)

    def test_files_that_are_not_named_like_voices_are_none(self, folder: Path, tmp_path: Path) -> None:
        for name in ("af_bella", "a+b", "x(2)", "-rf", ".hidden", "with space"):
            (tmp_path / f"{name}.pt").write_bytes((folder / "af_bella.pt").read_bytes())
        assert Packs(tmp_path, narrow_config()).names == ("af_bella",)

    def test_a_file_that_runs_code_or_is_damaged_is_left_out_and_named(
        self, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        for name in ("af_cut", "af_good"):
            (tmp_path / f"{name}.pt").write_bytes((folder / "af_bella.pt").read_bytes())
        (tmp_path / "af_bad.pt").write_bytes((folder / "af_bella.pt").read_bytes()[:1000])
        torch.save({"code": Path}, tmp_path / "af_code.pt")
        torch.save(torch.zeros(3, 1, 256), tmp_path / "af_short.pt")
        packs = Packs(tmp_path, narrow_config())
        assert packs.names == ("af_cut", "af_good")
        assert packs.damaged == ("af_bad", "af_code", "af_short")
        assert all(f"{name} is left out" in caplog.text for name in ("af_bad", "af_code", "af_short"))
        (tmp_path / "af_cut.pt").write_bytes(b"")
        with pytest.raises(EngineFailed, match="af_cut"):
            packs.style("af_cut", 10)
        assert packs.style("af_good", 10).shape == (256,)

    def test_memory_is_bounded(self, folder: Path) -> None:
        packs = Packs(folder, narrow_config(), kept=2)
        for weight in range(1, 8):
            for name in NAMES:
                packs.style(name, 5)
            packs.style(f"af_bella({weight})+af_sky", 5)
        assert len(packs._packs) == len(packs._mixes) == 2


class TestMixes:
    def test_weights_are_divided_by_their_total_and_minus_takes_away(self, folder: Path, packs: Packs) -> None:
        bella, sky, adam = (published(folder, name) for name in ("af_bella", "af_sky", "am_adam"))
        expected = bella * (2 / 4) + sky * (1 / 4) - adam * (1 / 4)
        mixed = packs.mixed_pack("af_bella(2)+af_sky(1) - am_adam")
        assert mixed.shape == (510, 1, 256)
        assert torch.allclose(mixed, expected, atol=1e-6)
        assert torch.allclose(packs.style("af_bella(2)+af_sky(1)-am_adam", 7), expected[6, 0], atol=1e-6)

    def test_the_same_mix_is_made_once(self, packs: Packs) -> None:
        first = packs._pack("af_bella+af_sky")
        assert packs._pack("af_bella(3) + af_sky(3.0)") is first

    def test_openais_names_can_be_mixed(self) -> None:
        assert [name for name, _ in parse_mix("alloy+nova(3)").shares] == [OPENAI["alloy"], OPENAI["nova"]]

    def test_a_mix_speaks_its_first_voices_language(self, packs: Packs) -> None:
        voice = packs.voice("jf_alpha(0.5)+af_bella")
        assert voice is not None
        assert (voice.language, voice.gender) == ("ja", "female")

    def test_an_unknown_voice_in_a_mix_is_refused(self, packs: Packs) -> None:
        for ask in (packs.voice, packs.mixed_pack):
            with pytest.raises(UnknownVoice):
                ask("af_bella+nobody")

    @pytest.mark.parametrize(
        "spec",
        [
            *(
                "+af_bella",
                "-af_bella",
                "af_bella+",
                "af_bella-",
                "af_bella++af_sky",
                "af_bella+-af_sky",
                "+",
                "()",
            ),
            *("af_bella()", "af_bella(0)", "af_bella(-1)", "af_bella(nan)", "af_bella(inf)", "af_bella(1e999)"),
            *("af_bella(x)", "af_bella(1", "af_bella1)", "af_bella(1)(2)", "af_bella(1)af_sky", "(1)af_bella"),
            *("af_bella(1e308)+af_sky(1e308)", "../x+af_bella", "af_bella(1,5)", "af_bella(.)", "af_bella(1.2.3)"),
            "+".join(["af_bella"] * (MOST_VOICES + 1)),
        ],
    )
    def test_what_is_not_in_the_grammar_is_refused_in_clear_words(self, spec: str, packs: Packs) -> None:
        with pytest.raises(InvalidRequest) as refused:
            packs.voice(spec)
        assert refused.value.param == "voice"
        assert "af_bella" not in refused.value.message

    @settings(max_examples=500, deadline=None)
    @given(st.text(alphabet="af_bellsky+-() .0123456789einx", max_size=40))
    def test_any_text_is_a_mix_or_refused(self, text: str) -> None:
        try:
            mix = parse_mix(text)
        except InvalidRequest:
            return
        shares = [share for _, share in mix.shares]
        assert all(math.isfinite(share) for share in shares)
        assert sum(map(abs, shares)) == pytest.approx(1)
        assert 0 < len(shares) <= MOST_VOICES

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(
            st.tuples(st.sampled_from(NAMES), st.floats(0.001, 1000), st.sampled_from("+-")),
            min_size=2,
            max_size=9,
        )
    )
    def test_every_mix_that_is_well_formed_is_understood(self, terms: list[tuple[str, float, str]]) -> None:
        text = "".join(
            f"{sign if at else ''}{name}({weight:.6f})" for at, (name, weight, sign) in enumerate(terms)
        )
        total = sum(round(weight, 6) for _, weight, _ in terms)
        assert is_mix(text)
        for at, ((name, weight, sign), (found, share)) in enumerate(
            zip(terms, parse_mix(text).shares, strict=True)
        ):
            expected = round(weight, 6) / total * (-1 if at and sign == "-" else 1)
            assert found == name
            assert share == pytest.approx(expected)
