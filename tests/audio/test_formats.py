import pytest

from api.audio import FORMATS, find_format, open_encoder
from api.errors import InvalidRequest

RATES_HZ = (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)


def test_the_table_knows_the_formats_of_the_contract_by_their_media_types() -> None:
    assert {name: row.media_type for name, row in FORMATS.items()} == {
        "mp3": "audio/mpeg",
        "opus": "audio/opus",
        "aac": "audio/aac",
        "flac": "audio/flac",
        "wav": "audio/wav",
        "pcm": "audio/pcm",
    }


def test_the_names_of_files_end_in_the_name_of_the_format() -> None:
    assert {row.extension for row in FORMATS.values()} == {".mp3", ".opus", ".aac", ".flac", ".wav", ".pcm"}


def test_only_pcm_and_wav_are_light_enough_for_the_event_loop() -> None:
    assert {name for name, row in FORMATS.items() if row.light} == {"wav", "pcm"}


@pytest.mark.parametrize("name", FORMATS)
def test_every_rate_is_carried_but_those_that_opus_does_not_know(name: str) -> None:
    refused = {22_050, 44_100} if name == "opus" else set()
    assert set(FORMATS[name].rates_hz) == set(RATES_HZ) - refused
    assert all(find_format(name, rate_hz) is FORMATS[name] for rate_hz in FORMATS[name].rates_hz)


@pytest.mark.parametrize(("name", "rate_hz"), [("opus", 22_050), ("opus", 44_100), ("mp3", 32_000), ("pcm", 0)])
def test_a_rate_that_a_format_cannot_carry_is_refused_with_those_it_can(name: str, rate_hz: int) -> None:
    with pytest.raises(InvalidRequest, match="24000") as refusal:
        find_format(name, rate_hz)
    assert refusal.value.param == "sample_rate"
    with pytest.raises(InvalidRequest):
        open_encoder(name, 24_000, rate_hz)


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match="mp3, opus, aac, flac, wav, pcm") as refusal:
        find_format("ogg", 24_000)
    assert refusal.value.param == "response_format"
