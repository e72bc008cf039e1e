"""API keys: who is known, and what a key is entitled to."""

import hashlib

import pytest

from api.admission import Callers, new_key
from api.errors import InvalidApiKey, SettingsInvalid
from api.settings import Auth
from api.types import Caller

HASH = hashlib.sha256(b"secret").hexdigest()


def callers(keys: str, *, anonymous: bool = False) -> Callers:
    return Callers(Auth(keys=keys, anonymous=anonymous))


class TestFinding:
    def test_a_new_key_opens_to_its_owner(self) -> None:
        secret, entry = new_key("alice")
        assert callers(entry).find(f"Bearer {secret}").name == "alice"
        assert secret not in entry

    def test_no_two_new_keys_are_the_same(self) -> None:
        assert new_key("alice")[0] != new_key("alice")[0]

    def test_a_plain_secret_is_a_key_too(self) -> None:
        found = callers("alice:secret, other").find("Bearer other")
        assert found.name == f"key-{hashlib.sha256(b'other').hexdigest()[:8]}"
        assert callers("alice:secret").find("Bearer secret").name == "alice"

    @pytest.mark.parametrize("header", ["Bearer secret", "bearer secret", "BEARER   secret "])
    def test_the_scheme_is_read_in_any_case(self, header: str) -> None:
        assert callers(f"alice:sha256={HASH}").find(header).name == "alice"

    @pytest.mark.parametrize(
        "header", [None, "", "secret", "Bearer", "Bearer ", "Basic secret", "Bearer other", f"Bearer {HASH}"]
    )
    def test_others_are_refused_without_a_word_of_their_key(self, header: str | None) -> None:
        with pytest.raises(InvalidApiKey) as refused:
            callers(f"alice:sha256={HASH}").find(header)
        assert "other" not in refused.value.message

    def test_one_name_may_have_two_keys(self) -> None:
        known = callers("alice:old,alice:new")
        assert known.find("Bearer old") == known.find("Bearer new")

    @pytest.mark.parametrize("header", [None, "Bearer anything", "nonsense"])
    def test_without_keys_everybody_is_the_same(self, header: str | None) -> None:
        assert callers("").find(header) == Caller()

    def test_where_strangers_are_served_a_wrong_key_is_still_wrong(self) -> None:
        known = callers("alice:secret", anonymous=True)
        assert known.find(None) == Caller()
        assert known.find("Bearer secret").name == "alice"
        with pytest.raises(InvalidApiKey):
            known.find("Bearer other")


class TestEntitlements:
    def test_are_set_after_the_key(self) -> None:
        found = callers("alice:secret;share=2.5;running=4;queued=0").find("Bearer secret")
        assert (found.share, found.most_running, found.most_queued) == (2.5, 4, 0)

    def test_are_the_servers_own_where_nothing_is_set(self) -> None:
        found = callers("alice:secret").find("Bearer secret")
        assert (found.share, found.most_running, found.most_queued) == (1.0, None, None)

    def test_shares_guarantee_a_part_of_the_slots(self) -> None:
        known = callers("alice:one;share=3,bob:two")
        assert [known.find(f"Bearer {key}").guaranteed for key in ("one", "two")] == [0.75, 0.25]

    @pytest.mark.parametrize(
        "option",
        [
            *("share=0", "share=-1", "share=nan", "share=inf", "share=", "share"),
            *("running=0", "running=-1", "running=1.5", "queued=-1", "queued=many", "speed=2", ""),
        ],
    )
    def test_that_make_no_sense_stop_the_start(self, option: str) -> None:
        with pytest.raises(SettingsInvalid, match="CHORUS_AUTH__KEYS"):
            callers(f"alice:secret;{option}")


class TestEntries:
    @pytest.mark.parametrize(
        "entry",
        ["alice:", "a b:secret", ":", f"alice:sha256={HASH[:-1]}", f"alice:sha256={HASH.upper()}", "sha256="],
    )
    def test_that_cannot_be_meant_stop_the_start_without_being_repeated(self, entry: str) -> None:
        with pytest.raises(SettingsInvalid) as refused:
            callers(entry)
        assert HASH[:-1] not in str(refused.value).lower()

    @pytest.mark.parametrize("name", ["", "two words", "a" * 65, "a,b", "a;b", "a:b", "alice\n"])
    def test_a_new_key_needs_a_name_that_can_be_written_down(self, name: str) -> None:
        with pytest.raises(SettingsInvalid):
            new_key(name)
