"""The one place for settings. Nothing else reads the environment.

`CHORUS_` in front, `__` between a section and its field: `CHORUS_SERVER__PORT=9000`. A `.env` file in the
working folder is read too; the environment wins. An unknown name stops the start.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from dotenv import dotenv_values
from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from api.engine_settings import Espeak, Kokoro, LanguageModels, Section, Spark, Tone
from api.errors import SettingsInvalid

# Whoever needs settings comes here, for those of engines too.
__all__ = ["Espeak", "Kokoro", "LanguageModels", "Section", "Settings", "Spark", "Tone", "load"]

PREFIX = "CHORUS_"
DOTENV = Path(".env")
_SPAWNER = "_CHORUS_SPAWNER"


class Server(Section):
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8880, ge=0, le=65535, description="Port to listen on.")
    workers: Annotated[int, Field(ge=1, le=256)] | Literal["auto"] = Field(
        "auto", description="Worker processes, each with its own copy of the model; `auto` fits the machine."
    )
    grace_s: float = Field(120, gt=0, description="How long running streams may go on after a stop signal.")
    boot_deadline_s: float = Field(
        300, gt=0, description="A worker that has not spoken its warm-up sentence by then has failed to start."
    )
    silence_s: float = Field(
        12,
        gt=0,
        description="An engine that has work and makes no sound for this long hangs: its worker is replaced.",
    )
    send_timeout_s: float = Field(
        20, gt=0, description="A client that takes nothing, or next to nothing, for this long is cut off."
    )
    header_timeout_s: float = Field(
        10,
        gt=0,
        description="A client that has not sent its request's head, or a fair part of its body, is cut off.",
    )
    connections_per_worker: int = Field(
        4096, ge=1, description="Connections a worker has at most; one more gets 503, unless it asks for health."
    )
    connections_per_address: int | None = Field(
        None, ge=1, description="The same for each client address; behind a proxy all clients have the proxy's."
    )
    log: Literal["pretty", "json"] = Field("pretty", description="How log lines look.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least that is logged; `debug` has the requests of those who watch the server too."
    )
    traces: bool = Field(
        default=False,
        description="Send OpenTelemetry traces; where to is said by `OTEL_…`. Needs the extra `otel`.",
    )


class Auth(Section):
    keys: str = Field(
        "",
        description="API keys separated by commas: `name:sha256=…` as `chorus key` prints it, or `name:secret`; "
        "`;share=2;running=4;queued=20` after one set its weight and how many requests it may have at once.",
    )
    anonymous: bool = Field(
        default=False,
        description="Serve callers without a key too; without keys, only loopback is served otherwise.",
    )


class Metrics(Section):
    keys: str = Field(
        "",
        description="Keys for `GET /metrics` alone, in the form of `CHORUS_AUTH__KEYS`; unset: whoever may ask "
        "for speech may read it.",
    )


class Redis(Section):
    url: str | None = Field(
        None, description="The Redis that all hosts share, `redis://…`; unset starts a private one for this host."
    )
    namespace: str = Field(
        "chorus", pattern=r"^[A-Za-z0-9._-]{1,64}$", description="Keeps servers that share a Redis apart."
    )


class Admission(Section):
    slots_per_worker: int | None = Field(
        None, ge=1, description="Requests one worker speaks at once; unset means the engine's own figure."
    )
    max_queued: int = Field(200, ge=0, description="Requests that may wait for a slot; one more gets 503.")
    deadline_s: float = Field(30, gt=0, description="The longest a request may wait for its first sound.")
    adaptive: bool = Field(
        default=True,
        description="Admit fewer than the slots allow while streams fall behind what is being played.",
    )


class RequestLimits(Section):
    input_chars: int = Field(4096, ge=1, description="Longest input of one request, in code points.")
    body_bytes: int = Field(262_144, ge=1024, description="Largest request body; more is a 413.")
    spool_bytes: int = Field(
        16_777_216, ge=65_536, description="Audio kept on disk for a slow reader, beyond half a MiB in memory."
    )


class Files(Section):
    folder: Path | None = Field(
        None,
        description="Where files for `return_download_link` lie; unset: the server's own folder, gone when it "
        "stops. Hosts that share it serve each other's.",
    )
    most_bytes: int = Field(536_870_912, ge=1_048_576, description="All of them together; the oldest go first.")
    age_s: float = Field(3600, gt=0, description="How long one is kept.")


class Compat(Section):
    dev: bool = Field(
        default=True, description="Serve Kokoro-FastAPI's `/dev/…`, behind the same keys and queue as speech."
    )
    combine: bool = Field(
        default=False,
        description="Serve `POST /v1/audio/voices/combine`, which hands out the voices' files, mixed as asked.",
    )
    origins: str = Field(
        "",
        description="Whose pages may use this server from a browser (CORS): `https://a.example`, several with "
        "spaces between them, or `*` for everybody's.",
    )

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: str) -> str:
        for origin in origins.split():
            if origin != "*" and not re.fullmatch(r"https?://[^/\s,]+", origin):
                raise ValueError(f"{origin} is not an origin: https://example.org, without a path")
        return origins


class Gpu(Section):
    mps: Literal["off", "on", "auto"] = Field(
        "off",
        description="Run CUDA MPS, so that workers share a GPU at the same time; `auto` does where there are "
        "several workers on one. A fatal fault of one then ends them all.",
    )


class Hub(Section):
    url: str | None = Field(
        None,
        pattern=r"^https?://[^\s/]+",
        description="The hub that models are downloaded from, or a mirror of it; unset: `HF_ENDPOINT`, else the "
        "Hugging Face hub.",
    )
    token: SecretStr | None = Field(
        None, description="A token for repositories that are not open to everybody; unset: `HF_TOKEN`."
    )


class Settings(BaseSettings):
    """Everything that can be set. Defaults suit a laptop."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", env_file=DOTENV, extra="ignore", frozen=True
    )

    engine: str = Field("auto", description="The engine to load; `auto` takes the best one that can load here.")
    models_dir: Path = Field(Path("models"), description="Where model files lie, one folder an engine.")
    server: Server = Server()
    auth: Auth = Auth()
    metrics: Metrics = Metrics()
    redis: Redis = Redis()
    admission: Admission = Admission()
    limits: RequestLimits = RequestLimits()
    hub: Hub = Hub()
    files: Files = Files()
    compat: Compat = Compat()
    gpu: Gpu = Gpu()
    tone: Tone = Tone()
    espeak: Espeak = Espeak()
    kokoro: Kokoro = Kokoro()
    lm: LanguageModels = LanguageModels()
    spark: Spark = Spark()

    @model_validator(mode="after")
    def _strangers_need_keys(self) -> Self:
        """Whoever can reach the server may use it: that must have been meant."""
        if not (self.auth.keys.strip() or self.auth.anonymous or _is_loopback(self.server.host)):
            raise ValueError(
                "this server would be open to strangers: set CHORUS_AUTH__KEYS (see `chorus key`), "
                "or CHORUS_AUTH__ANONYMOUS=true if that is meant"
            )
        return self


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def load(**overrides: Any) -> Settings:
    """The settings of this process, or SettingsInvalid naming each thing that is wrong."""
    given = {**dotenv_values(DOTENV), **os.environ}
    problems = list(_unknown_names(given))
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        wrong = (_explain(detail) for detail in error.errors() if detail["type"] != "extra_forbidden")
        raise SettingsInvalid("\n".join(dict.fromkeys([*problems, *wrong]))) from None
    if problems:
        raise SettingsInvalid("\n".join(problems))
    return settings


def log_style() -> str:
    """How log lines look, for whoever has to say that other settings are wrong."""
    given = {**dotenv_values(DOTENV), **os.environ}
    return "json" if given.get(f"{PREFIX}SERVER__LOG") == "json" else "pretty"


def visible_gpus() -> str | None:
    """Which GPUs this server may use, in CUDA's words and by its variable; None: all of them."""
    return os.environ.get("CUDA_VISIBLE_DEVICES")


def hub(chosen: Settings) -> tuple[str, str | None]:
    """The hub's address and the token for it; what Chorus was not told, the hub's own tools may have been."""
    theirs = {**dotenv_values(DOTENV), **os.environ}
    url = chosen.hub.url or theirs.get("HF_ENDPOINT") or "https://huggingface.co"
    token = chosen.hub.token.get_secret_value() if chosen.hub.token else theirs.get("HF_TOKEN")
    return url, (token or "").strip() or None


@contextmanager
def library_environment(told: Mapping[str, str], **meanwhile: str) -> Iterator[None]:
    """Tell a library what it reads of the environment. What else it writes there meanwhile is taken back.

    What it spawns is told `meanwhile` too, and of whom it is the child: multiprocessing tells it too late.
    """
    os.environ.update({**told, _SPAWNER: str(os.getpid())})
    before = dict(os.environ)
    os.environ.update(meanwhile)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def spawner() -> int | None:
    """The process that this one is to die with, if a library spawned it."""
    told = os.environ.get(_SPAWNER)
    return int(told) if told else None


def metrics_directory() -> Path | None:
    """Where the workers of one server count together, as `workers` told them. prometheus_client chose the name."""
    given = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    return Path(given) if given else None


def environment_names() -> dict[str, Any]:
    """Every setting's environment name, with its field."""
    return dict(_fields(Settings, PREFIX))


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _fields(kind, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", field


def _unknown_names(given: Mapping[str, str | None]) -> Iterator[str]:
    known = environment_names()
    for name in given:
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            nearest = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0)
            yield f"{name} is not a setting. Did you mean {nearest[0]}?"


def _explain(detail: Any) -> str:
    """One line for a bad value; of a union's branches only the setting itself is named."""
    known = environment_names()
    parts = [str(part).upper() for part in detail["loc"]]
    while parts and PREFIX + "__".join(parts) not in known:
        parts.pop()
    name = PREFIX + "__".join(parts) if parts else "settings"
    return f"{name}: {detail['msg'].removeprefix('Value error, ')}"
