"""What a text costs before anybody has read it, and how that is corrected."""

import time

import pytest

from api.admission import Estimator, audio_seconds
from api.admission.estimate import FirstSound


class TestAudioSeconds:
    def test_letters_are_read_quicker_than_characters_that_are_words(self) -> None:
        assert audio_seconds("a" * 150) == 10
        assert audio_seconds("漢" * 45) == 10
        assert audio_seconds("a" * 150 + "漢" * 45) == 20

    def test_half_the_speed_takes_twice_as_long(self) -> None:
        assert audio_seconds("Hello there.", speed=0.5) == 2 * audio_seconds("Hello there.")

    def test_the_longest_text_is_weighed_in_no_time(self) -> None:
        started = time.perf_counter()
        for _ in range(100):
            audio_seconds("漢" * 4096)
        assert time.perf_counter() - started < 1


class TestEstimator:
    def test_begins_with_the_usual_reading_speed(self) -> None:
        assert Estimator().cost_s("a" * 150, "en-us", 1.0) == 10

    def test_comes_to_what_texts_of_the_language_really_take(self) -> None:
        estimator = Estimator()
        for _ in range(200):
            estimator.learn("de", guessed_s=10, sounded_s=15)
        assert estimator.cost_s("a" * 150, "de", 1.0) == pytest.approx(15, rel=0.01)
        assert estimator.cost_s("a" * 150, "en-us", 1.0) == 10

    def test_one_odd_text_changes_little(self) -> None:
        estimator = Estimator()
        estimator.learn("de", guessed_s=1, sounded_s=1000)
        assert estimator.cost_s("a" * 150, "de", 1.0) <= 12

    def test_a_text_too_short_to_tell_teaches_nothing(self) -> None:
        estimator = Estimator()
        estimator.learn("de", guessed_s=0.9, sounded_s=5)
        assert estimator.cost_s("a" * 150, "de", 1.0) == 10


class TestFirstSound:
    def test_nothing_is_known_at_first(self) -> None:
        assert FirstSound().usual_s == 0

    def test_the_first_one_is_believed_and_later_ones_correct_it(self) -> None:
        first_sound = FirstSound()
        first_sound.learn(1.0)
        assert first_sound.usual_s == 1.0
        first_sound.learn(2.0)
        assert first_sound.usual_s == pytest.approx(1.1)

    def test_what_nobody_confirms_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        first_sound = FirstSound()
        first_sound.learn(40.0)
        monkeypatch.setattr("api.admission.estimate.BELIEVED_S", 0.0)
        assert first_sound.usual_s == 0
        first_sound.learn(0.2)
        monkeypatch.undo()
        assert first_sound.usual_s == 0.2
