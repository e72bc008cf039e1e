"""Each network that listens to a clip, against one that was written down plainly from the published layout."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import Wav2Vec2FeatureExtractor, Wav2Vec2Model
from transformers.audio_utils import mel_filter_bank

from api.engines.spark.cloning.encoder import Encoder
from api.engines.spark.cloning.hearing import LAYERS, Hearing
from api.engines.spark.cloning.loudness import Clip, for_speaker, levelled
from api.engines.spark.cloning.mels import Mels
from api.engines.spark.cloning.weights import load_semantic_encoder, load_speaker_encoder
from api.engines.spark.layout import Layout
from tests.clips.recorded import speech
from tests.engines.spark.bicodec import Reference
from tests.engines.spark.cloning.wav2vec2 import NAME


@pytest.fixture(scope="module")
def reference(folder: Path) -> Reference:
    return Reference.read(folder / "BiCodec")


@pytest.fixture(scope="module")
def published_hearing(folder: Path) -> Wav2Vec2Model:
    return Wav2Vec2Model.from_pretrained(folder / NAME).eval()


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def features_of(clip: Clip, folder: Path, model: Wav2Vec2Model) -> Tensor:
    """As the model's authors compute them, with the library's own parts."""
    prepare = Wav2Vec2FeatureExtractor.from_pretrained(folder / NAME)
    samples = prepare(clip, sampling_rate=16_000, return_tensors="pt", padding=True).input_values
    with torch.inference_mode():
        states = model(samples, output_hidden_states=True).hidden_states
    assert len(states) == model.config.num_hidden_layers + 1
    return (states[11] + states[14] + states[16]) / 3


def test_the_bands_are_slaneys(folder: Path) -> None:
    mels, _ = load_speaker_encoder(folder / "BiCodec")
    shape = mels.shape
    bins = shape.fft // 2 + 1
    expected = mel_filter_bank(
        bins, shape.bands, shape.low_hz, shape.high_hz, shape.rate_hz, norm="slaney", mel_scale="slaney"
    )
    assert np.abs(mels.bands.T.numpy() - expected).max() < 1e-6


def test_mels_equal_the_references(folder: Path, reference: Reference) -> None:
    mels, _ = load_speaker_encoder(folder / "BiCodec")
    sound = torch.from_numpy(speech(6))
    assert torch.allclose(mels(sound[None])[0].T, reference.mels(sound), atol=1e-5)
    assert mels(sound[None]).shape == (1, 128, 301)


@pytest.mark.parametrize("seed", range(3))
def test_who_speaks_is_heard_as_the_reference_hears_it(folder: Path, reference: Reference, seed: int) -> None:
    _, encoder = load_speaker_encoder(folder / "BiCodec")
    mels = noise(301, 128, seed=seed).abs()
    with torch.inference_mode():
        frames = encoder.speaker_encoder(mels.T[None])
        assert torch.allclose(frames[0], reference._heard(mels.T)[1], rtol=1e-4, atol=1e-5)
        answers = encoder.perceiver_sampler(frames.transpose(1, 2))[0]
        assert torch.allclose(answers, reference._resampled_by_attention(frames[0].T), rtol=1e-4, atol=1e-4)
        tokens = encoder(mels.T[None])[0].tolist()
    assert tokens == reference.globals(mels)
    assert len(tokens) == 32
    assert len(set(tokens)) > 8


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_is_heard_as_the_reference_hears_it(folder: Path, reference: Reference, seed: int) -> None:
    encoder = load_semantic_encoder(folder / "BiCodec")
    features = noise(150, 48, seed=seed)
    with torch.inference_mode():
        codes = encoder(features[None])[0].tolist()
    assert codes == reference.codes(features)
    assert len(set(codes)) > 50


def test_wav2vec2_is_averaged_over_the_layers_that_spark_was_taught_with(
    folder: Path, published_hearing: Wav2Vec2Model
) -> None:
    clip = speech(1.3)
    hearing = Hearing.load(folder / NAME)
    with torch.inference_mode():
        heard = hearing(torch.from_numpy(clip)[None])
    expected = features_of(clip, folder, published_hearing)
    assert heard.shape == (1, 64, 48)
    assert torch.allclose(heard, expected, rtol=1e-4, atol=1e-5)
    assert len(hearing.model.encoder.layers) == max(LAYERS) < published_hearing.config.num_hidden_layers


def test_wav2vec2_may_be_in_a_file_of_the_oldest_form_or_of_the_newest(folder: Path, tmp_path: Path) -> None:
    weights = torch.load(folder / NAME / "pytorch_model.bin", weights_only=True)
    clip, heard = torch.from_numpy(speech(0.5))[None], []
    for form in ("oldest", "newest"):
        place = tmp_path / form
        shutil.copytree(folder / NAME, place, ignore=shutil.ignore_patterns("*.bin"))
        if form == "oldest":
            torch.save(weights, place / "pytorch_model.bin", _use_new_zipfile_serialization=False)
        else:
            save_file(weights, place / "model.safetensors")
        heard.append(Hearing.load(place)(clip))
    assert torch.equal(*heard)


def test_a_clip_becomes_the_tokens_that_the_reference_makes_of_it(
    folder: Path, reference: Reference, published_hearing: Wav2Vec2Model
) -> None:
    clip = 0.3 * speech(4)
    portrait = Encoder.load(Layout(folder)).portrait(clip, words=True)
    sound = levelled(clip)
    assert portrait.globals == tuple(reference.globals(reference.mels(torch.from_numpy(for_speaker(sound)))))
    assert portrait.codes == tuple(reference.codes(features_of(sound, folder, published_hearing)[0]))
    assert len(portrait.codes) == 199


def test_another_voice_is_another_portrait_and_the_same_one_the_same(folder: Path) -> None:
    encoder = Encoder.load(Layout(folder), words=False)
    portraits = [encoder.portrait(speech(3, pitch_hz=pitch), words=False) for pitch in (120, 220, 120)]
    assert portraits[0] == portraits[2] != portraits[1]
    assert portraits[0].codes == ()


def test_clips_are_levelled_as_the_model_was_taught() -> None:
    clip = speech(2)
    heard = np.sort(np.abs(levelled(clip)))
    heard = heard[heard > 0.01]
    assert heard[int(0.9 * len(heard)) : int(0.99 * len(heard))].mean() == pytest.approx(0.2, rel=0.05)
    # Ten times louder at most: what is nearly silent stays quiet.
    assert np.abs(levelled(clip / np.abs(clip).max() / 100)).max() == pytest.approx(0.1, rel=0.01)
    loud = levelled(clip * 1e6)
    assert np.abs(loud).max() == pytest.approx(1.0)
    assert not levelled(np.zeros(16_000, np.float32)).any()


def test_a_short_clip_is_repeated_until_it_is_long_enough() -> None:
    clip = speech(1.7)
    heard = for_speaker(clip)
    assert len(heard) == 96_000
    assert np.array_equal(heard[: len(clip)], clip)
    assert np.array_equal(heard[len(clip) : 2 * len(clip)], clip)
    assert np.array_equal(for_speaker(speech(9)), speech(9)[:96_000])


def test_mels_have_no_weights_of_their_own(folder: Path) -> None:
    mels, _ = load_speaker_encoder(folder / "BiCodec")
    assert isinstance(mels, Mels)
    assert not mels.state_dict()
