"""A download as a whole: what comes, what is asked for again, and what is refused."""

import shutil
import subprocess
import sys
import threading
import time
from collections import namedtuple
from dataclasses import replace

import pytest

from api.downloads import Hub, stock
from api.errors import DownloadFailed
from tests.downloads.hub import (
    drops_after,
    falls_silent,
    gives_wrong_bytes,
    knows_no_parts,
    refuses,
    trickles,
)
from tests.downloads.stage import FILES, MODEL, SHA256, WANTED, WEIGHTS, Stage
from tests.server import ROOT


class TestAll:
    def test_what_the_engine_wants_comes_and_nothing_else(self, stage: Stage) -> None:
        done = stage.download()
        assert stage.there == WANTED
        assert not (stage.folder / "README.md").exists()
        assert not (stage.folder / "voices" / "notes").exists()
        assert sorted(file.path for file in done.fetched) == WANTED

    def test_progress_ends_at_the_whole(self, stage: Stage) -> None:
        stage.download()
        assert stage.told.there == stage.told.total == sum(len(FILES[path]) for path in WANTED)

    def test_all_files_are_of_one_commit(self, stage: Stage) -> None:
        done = stage.download()
        assert done.receipt.commit == stage.hub.repositories["owner/toy"].commit
        assert all("/main" not in asked.path for asked in stage.hub.asked[1:])

    def test_a_listing_of_many_pages_is_read_to_its_end(self, stage: Stage) -> None:
        stage.hub.page = 2
        stage.download()
        assert stage.there == WANTED

    def test_files_of_the_same_content_do_not_disturb_each_other(self, stage: Stage) -> None:
        same = {f"voices/af_{n}.pt": WEIGHTS for n in range(8)}
        stage.publish({**FILES, **same})
        stage.download()
        assert stage.there == WANTED
        assert {stage.read(path) for path in same} == {WEIGHTS}

    def test_nothing_is_left_behind_but_the_receipt(self, stage: Stage) -> None:
        stage.download()
        assert sorted(path.name for path in stage.folder.glob(".*")) == [".downloaded.json", ".lock"]

    def test_names_that_lead_out_of_the_folder_are_not_followed(self, stage: Stage) -> None:
        stage.publish({**FILES, "voices/../../../escaped.pt": b"x", "voices/..": b"x", "voices/a\n.pt": b"x"})
        stage.download()
        assert list(stage.models.parent.rglob("escaped*")) == []


class TestAgain:
    def test_a_second_call_asks_nobody(self, stage: Stage) -> None:
        stage.download()
        before = len(stage.hub.asked)
        assert stage.download().fetched == ()
        assert len(stage.hub.asked) == before

    def test_without_a_network_what_was_fetched_stays_of_use(self, stage: Stage) -> None:
        stage.download()
        stage.hub.go_away()
        assert stage.download().fetched == ()

    @pytest.mark.parametrize("damage", ["gone", "short", "changed"])
    def test_what_was_damaged_since_comes_again(self, stage: Stage, damage: str) -> None:
        stage.download()
        path = stage.folder / "toy.pth"
        match damage:
            case "gone":
                path.unlink()
            case "short":
                path.write_bytes(WEIGHTS[:-1])
            case "changed":
                path.write_bytes(bytes(len(WEIGHTS)))
        assert [file.path for file in stage.download().fetched] == ["toy.pth"]
        assert stage.there == WANTED

    def test_damage_that_nothing_tells_of_is_found_when_asked_to_look(self, stage: Stage) -> None:
        stage.download()
        path = stage.folder / "toy.pth"
        before = path.stat()
        path.write_bytes(bytes(len(WEIGHTS)))
        subprocess.run(["touch", "-d", f"@{before.st_mtime_ns / 1e9:.9f}", path], check=True)
        assert [file.path for file in stage.download(verify=True).fetched] == ["toy.pth"]

    def test_a_new_commit_is_noticed_when_asked_for(self, stage: Stage) -> None:
        stage.download()
        stage.publish({**FILES, "config.json": b"{}"}, commit="b" * 40)
        assert stage.download().fetched == ()
        assert [file.path for file in stage.download(update=True).fetched] == ["config.json"]
        assert stage.read("config.json") == b"{}"

    def test_files_copied_by_hand_are_checked_not_fetched(self, stage: Stage) -> None:
        for path in WANTED:
            (stage.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (stage.folder / path).write_bytes(FILES[path])
        assert stage.download().fetched == ()

    @pytest.mark.parametrize("receipt", ["", "[]", '{"layout": 1}', '{"layout": 99}', '{"layout": 1, "files": 3}'])
    def test_a_receipt_that_is_none_is_written_anew(self, stage: Stage, receipt: str) -> None:
        stage.download()
        (stage.folder / ".downloaded.json").write_text(receipt)
        assert stage.download().fetched == ()
        assert len(stage.hub.asked_for("toy.pth")) == 1


class TestVoices:
    def test_some_are_chosen_by_name_or_star(self, stage: Stage) -> None:
        stage.download(voices=("af_*",))
        assert stage.there == ["config.json", "toy.pth", "voices/af_one.pt", "voices/af_two.pt"]

    def test_the_rest_comes_later_without_another_listing(self, stage: Stage) -> None:
        stage.download(voices=("bm_one",))
        before = len(stage.hub.asked)
        stage.download()
        assert stage.there == WANTED
        assert all("/resolve" in asked.path for asked in stage.hub.asked[before:] if asked.server == "hub")

    def test_an_unknown_one_is_told_with_those_like_it(self, stage: Stage) -> None:
        with pytest.raises(DownloadFailed, match=r"no voice af_thre; it has af_t?"):
            stage.download(voices=("af_thre",))

    def test_a_model_without_voices_has_none_to_choose_from(self, stage: Stage) -> None:
        with pytest.raises(DownloadFailed, match="no voices to choose"):
            stage.download(replace(MODEL, voices=None), voices=("x",))


class TestInterrupted:
    def test_a_dropped_connection_is_continued_where_it_ended(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(100_000), drops_after(200_000)]
        stage.download()
        assert stage.read("toy.pth") == WEIGHTS
        assert stage.hub.asked_for("toy.pth") == [0, 100_000, 200_000]
        assert stage.told.there == stage.told.total

    def test_whoever_keeps_gaining_is_never_given_up(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(count) for count in range(20_000, 300_000, 20_000)]
        stage.download()
        assert stage.read("toy.pth") == WEIGHTS

    def test_the_next_call_goes_on_where_the_last_ended(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(120_000), refuses(503), refuses(503)]
        with pytest.raises(DownloadFailed, match=r"toy\.pth: 127\.0\.0\.1 answers 503 \(3 times\)"):
            stage.download()
        assert not (stage.folder / "toy.pth").exists()
        assert 120_000 in stage.parts
        stage.hub.asked.clear()
        stage.download()
        assert stage.hub.asked_for("toy.pth") == [120_000]
        assert stage.read("toy.pth") == WEIGHTS

    def test_a_killed_download_leaves_nothing_that_looks_whole(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [trickles(10_000, 0.05)]
        code = (
            "from tests.downloads.stage import *\nfrom tests.downloads.hub import LocalHub\n"
            f"hub = LocalHub(); hub.url = {stage.hub.url!r}\n"
            f"Stage(hub, Path({str(stage.models)!r})).download()"
        )
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
        while not any(size > 20_000 for size in stage.parts):
            time.sleep(0.01)
            assert process.poll() is None
        process.kill()
        process.wait()
        assert not (stage.folder / "toy.pth").exists()
        stage.hub.asked.clear()
        stage.download()
        assert stage.hub.asked_for("toy.pth")[0] > 20_000
        assert stage.there == WANTED

    def test_a_hub_without_parts_begins_again(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(100_000), knows_no_parts]
        stage.download()
        assert stage.read("toy.pth") == WEIGHTS
        assert stage.told.there == stage.told.total

    def test_a_part_that_the_hub_does_not_know_is_thrown_away(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(100_000), refuses(416)]
        stage.download()
        assert stage.hub.asked_for("toy.pth") == [0, 100_000, 0]
        assert stage.read("toy.pth") == WEIGHTS

    def test_a_hub_that_falls_silent_is_asked_again(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [falls_silent]
        stage.download(timeout_s=0.5)
        assert stage.read("toy.pth") == WEIGHTS

    def test_a_busy_hub_is_asked_again_for_its_listing(self, stage: Stage) -> None:
        stage.hub.refuses_listing = [429, 503]
        stage.download()
        assert stage.there == WANTED


class TestWrongContent:
    def test_it_is_asked_for_once_more(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [gives_wrong_bytes]
        stage.download()
        assert stage.read("toy.pth") == WEIGHTS

    @pytest.mark.parametrize("path", ["toy.pth", "config.json"])
    def test_twice_is_refused_and_nothing_of_it_kept(self, stage: Stage, path: str) -> None:
        stage.hub.faults[path] = [gives_wrong_bytes, gives_wrong_bytes]
        with pytest.raises(DownloadFailed, match="another content than the hub lists"):
            stage.download()
        assert not (stage.folder / path).exists()

    def test_a_beginning_that_was_wrong_is_found_at_the_end(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [drops_after(50_000), refuses(500), refuses(500)]
        with pytest.raises(DownloadFailed):
            stage.download()
        (part,) = (path for path in stage.folder.glob(".parts/*") if path.stat().st_size == 50_000)
        part.write_bytes(bytes(50_000))
        stage.download()
        assert stage.read("toy.pth") == WEIGHTS

    def test_a_hub_with_another_file_than_the_published_is_not_believed(self, stage: Stage) -> None:
        with pytest.raises(DownloadFailed, match=f"another toy.pth .*{SHA256}"):
            stage.download(replace(MODEL, sha256={"toy.pth": "a" * 64}))
        assert stage.hub.asked_for("toy.pth") == []

    def test_the_published_hash_counts_where_the_hub_lists_none(self, stage: Stage) -> None:
        stage.hub.faults["config.json"] = [gives_wrong_bytes, gives_wrong_bytes]
        with pytest.raises(DownloadFailed, match="sha256 " + "b" * 64):
            stage.download(replace(MODEL, sha256={"config.json": "b" * 64}))


class TestRefused:
    def test_no_network(self, stage: Stage) -> None:
        stage.hub.go_away()
        with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1 cannot be reached: Connection refused"):
            stage.download()

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (401, "there is no such repository, or only"),
            (403, "token"),
            (404, "no such repository"),
            (418, "expected"),
        ],
    )
    def test_a_hub_that_says_no_is_understood(self, stage: Stage, status: int, words: str) -> None:
        stage.hub.refuses_always = status
        with pytest.raises(DownloadFailed, match=words):
            stage.download()
        assert len(stage.hub.asked) == 1

    def test_a_revision_that_is_not_there(self, stage: Stage) -> None:
        with pytest.raises(DownloadFailed, match="no such repository, revision or file"):
            stage.download(revision="v9")

    def test_a_repository_that_lacks_what_the_engine_reads(self, stage: Stage) -> None:
        stage.publish({path: data for path, data in FILES.items() if path != "toy.pth"})
        with pytest.raises(DownloadFailed, match=r"has no toy\.pth at main"):
            stage.download()

    def test_too_little_room_is_told_before_anything_comes(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = namedtuple("usage", "total used free")
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 1000))
        with pytest.raises(DownloadFailed, match="has room for 1 kB"):
            stage.download()
        assert stage.hub.asked_for("toy.pth") == []

    def test_a_folder_that_cannot_be_written_to(self, stage: Stage) -> None:
        stage.models.write_text("a file where the folder should be")
        with pytest.raises(DownloadFailed, match=r"models/toy: Not a directory"):
            stage.download()

    @pytest.mark.parametrize("answer", [b"<html>", b'{"x": 1}', b"[]", b'{"sha": "../.."}'])
    def test_something_that_is_no_hub(self, stage: Stage, monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
        monkeypatch.setattr("tests.downloads.hub.json.dumps", lambda _: answer.decode())
        with pytest.raises(DownloadFailed, match="hub"):
            stage.download()

    def test_an_address_that_is_none(self) -> None:
        with pytest.raises(DownloadFailed, match="no address of a hub"):
            Hub("ftp://127.0.0.1")


class TestToken:
    def test_it_opens_what_is_closed(self, stage: Stage) -> None:
        stage.hub.token = "hf_secret"
        with pytest.raises(DownloadFailed, match="HF_TOKEN"):
            stage.download()
        stage.download(token="hf_secret")
        assert stage.there == WANTED

    def test_the_store_never_sees_it(self, stage: Stage) -> None:
        stage.hub.token = "hf_secret"
        stage.download(token="hf_secret")
        assert {asked.token for asked in stage.hub.asked if asked.server == "store"} == {None}
        assert {asked.token for asked in stage.hub.asked if asked.server == "hub"} == {"Bearer hf_secret"}

    def test_a_wrong_one_is_told_without_repeating_it(self, stage: Stage) -> None:
        stage.hub.token = "hf_secret"
        with pytest.raises(DownloadFailed, match="not accepted") as refused:
            stage.download(token="hf_wrong")
        assert "hf_wrong" not in str(refused.value)

    def test_no_signed_address_is_told(self, stage: Stage) -> None:
        stage.hub.faults["toy.pth"] = [refuses(403)]
        with pytest.raises(DownloadFailed) as refused:
            stage.download()
        assert "signature" not in str(refused.value)


def test_two_downloads_at_once_fetch_everything_once(stage: Stage) -> None:
    stage.hub.faults["toy.pth"] = [trickles(30_000, 0.02)]
    both = [threading.Thread(target=stage.download) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert stage.there == WANTED
    assert stage.hub.asked_for("toy.pth") == [0]


class TestStock:
    def test_nothing(self, stage: Stage) -> None:
        assert str(stock(MODEL, stage.models)) == f"none in {stage.folder}"

    def test_a_part(self, stage: Stage) -> None:
        stage.folder.mkdir(parents=True)
        (stage.folder / "config.json").write_bytes(b"{}")
        assert str(stock(MODEL, stage.models)) == f"{stage.folder} lacks toy.pth, voices/*.pt"

    def test_the_whole(self, stage: Stage) -> None:
        stage.download(voices=("af_*",))
        assert str(stock(MODEL, stage.models)) == f"{stage.folder}: 310 kB, 2 voices, owner/toy at c0ffeec"

    def test_what_somebody_copied(self, stage: Stage) -> None:
        stage.download()
        (stage.folder / ".downloaded.json").unlink()
        assert str(stock(MODEL, stage.models)).endswith("3 voices, not fetched by chorus")
