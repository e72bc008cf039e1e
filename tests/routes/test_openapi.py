"""The served description of the API."""

from tests.server import Server


def test_no_answer_is_described_that_is_never_given(tone: Server) -> None:
    with tone.client() as client:
        paths = client.get("/openapi.json").json()["paths"]
    described = {status for path in paths.values() for route in path.values() for status in route["responses"]}
    assert "422" not in described
    assert {"200", "400", "404", "413", "415", "500", "503"} <= described


def test_the_speech_request_is_described_with_its_bounds(tone: Server) -> None:
    with tone.client() as client:
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
    fields = schemas["SpeechRequest"]["properties"]
    assert (fields["speed"]["minimum"], fields["speed"]["maximum"]) == (0.25, 4.0)
    assert fields["response_format"]["enum"] == ["mp3", "opus", "aac", "flac", "wav", "pcm"]
    assert schemas["SpeechRequest"]["required"] == ["input"]


def test_a_page_to_explore_it_is_served(tone: Server) -> None:
    with tone.client() as client:
        assert client.get("/docs").status_code == 200
