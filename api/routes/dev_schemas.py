"""What is asked of the `/dev` addresses that do not speak, and their answers."""

from pydantic import BaseModel, ConfigDict, Field


class PhonemizeRequest(BaseModel):
    model_config = ConfigDict(strict=True)

    text: str
    language: str = Field("a", min_length=1, max_length=32, description="`en-us`, `de`, or Kokoro's letters.")


class Phonemes(BaseModel):
    """`tokens` is always empty, as it is in Kokoro-FastAPI."""

    phonemes: str
    tokens: list[int]


class SsmlRequest(BaseModel):
    model_config = ConfigDict(strict=True)

    text: str
    voice: str = Field("", max_length=256, description="The voice that the text begins with, and comes back to.")


class Tagged(BaseModel):
    text: str
