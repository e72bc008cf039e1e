import numpy as np
import pytest

from tests.audio.sounds import encode, speech


def louder(samples: list[int], volume: float) -> list[int]:
    data = encode("pcm", np.asarray(samples, np.int16), (24_000, 24_000), volume=volume)
    return [int(sample) for sample in np.frombuffer(data, "<i2")]


def test_too_loud_is_clipped_and_never_wrapped_around() -> None:
    assert louder([20_000, -20_000, 32_767, -32_768, 100], 4.0) == [32_767, -32_768, 32_767, -32_768, 400]


@pytest.mark.parametrize(
    ("volume", "expected"), [(0.0, [0, 0, 0]), (0.5, [500, -500, 2]), (1.0, [1000, -1001, 3])]
)
def test_softer_is_rounded_to_the_nearest_sample(volume: float, expected: list[int]) -> None:
    assert louder([1000, -1001, 3], volume) == expected


def test_volume_one_leaves_every_sample_as_it_was() -> None:
    source = speech(24_000, 0.5)
    assert encode("pcm", source, (24_000, 24_000)) == source.tobytes()


def test_volume_acts_before_resampling_and_clips_after_both() -> None:
    source = np.tile(np.asarray([30_000, -30_000], np.int16), 500)
    decoded = np.frombuffer(encode("pcm", source, (16_000, 24_000), volume=4.0), "<i2").astype(int)
    assert len(decoded) == 1500
    assert abs(np.diff(decoded)).max() <= 65_535
    assert decoded.max() <= 32_767
    assert decoded.min() >= -32_768
