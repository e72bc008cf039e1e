"""The sections of settings that engines have. `settings.py` reads them, with all the others."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tone(Section):
    speed: float = Field(
        0, ge=0, description="Audio seconds a worker makes per second, all requests together; 0 is unlimited."
    )
    first_chunk_ms: float = Field(0, ge=0, description="Delay before a request's first chunk.")
    load_s: float = Field(0, ge=0, description="How long it takes to load.")
    fault: Literal[
        "none",
        "fail_start",
        "fail_first",
        "fail_midway",
        "hang",
        "hang_all",
        "block",
        "out_of_memory",
        "lose",
        "slow",
    ] = Field(
        "none",
        description="Injected fault: never load, fail before the first chunk, fail midway, stop midway without a "
        "word (this request, or all of them), block the event loop, run out of memory, lose the GPU for good, or "
        "speak slower than anybody listens.",
    )
    fault_every: int = Field(1, ge=1, description="Only every nth request meets the fault.")


class Espeak(Section):
    processes: int = Field(1, ge=1, le=64, description="Helper processes a worker; each uses one core.")
    segment_timeout_s: float = Field(
        5, gt=0, description="A helper that is silent for this long is replaced and its request fails."
    )


class Kokoro(Section):
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="What Kokoro computes on; `auto` takes a GPU where there is one."
    )
    threads: int | None = Field(
        None, ge=1, description="Threads a worker computes with on a CPU; unset: the cores divided by the workers."
    )
    precision: Literal["auto", "fp32", "int8"] = Field(
        "auto",
        description="`int8`: faster on a CPU with AVX512-VNNI, if that is near enough to fp32 on the weights that "
        "were loaded. `fp32`: as exact on a GPU as on a CPU. `auto`: fp32 on a CPU; on a GPU fewer bits, if they "
        "are near enough.",
    )
    batch: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Phrases computed at once, of all requests together. Unset: 64 on a GPU, 1 on a CPU, which is "
        "no faster with more and then repeats every sound to the last bit.",
    )
    step_ms: float = Field(
        50,
        gt=0,
        description="How long computing a batch may take: a new request waits no longer for its turn. A phrase "
        "that takes longer by itself is computed alone.",
    )
    segment_phonemes: int | None = Field(
        None,
        ge=20,
        le=510,
        description="The most that is spoken in one go. Unset: 250 on a GPU; 90 on a CPU, where all wait for it.",
    )


class LanguageModels(Section):
    runtime: Literal["auto", "vllm", "transformers"] = Field(
        "auto",
        description="What computes the tokens of engines that speak through a language model; `auto` takes vLLM "
        "where it is installed, and there is a GPU.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="What they are computed on; `auto` takes a GPU where there is one."
    )
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        description="The numbers they are computed in; `auto`: bf16 on GPUs that have it, fp16 on T4 and V100, "
        "fp32 on a CPU.",
    )
    most_at_once: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="Utterances in the running batch; unset: 128 with vLLM on a GPU, 32 without it, 16 on a CPU.",
    )
    kv_mib: int | None = Field(
        None,
        ge=16,
        description="Memory for what the model remembers of running utterances; unset: what so many of usual "
        "length need, as far as the GPU has it.",
    )
    graphs: bool = Field(
        default=True,
        description="Compile the model and record its steps as CUDA graphs (vLLM on a GPU): a slower start, and "
        "steps that wait for no Python.",
    )
    threads: int | None = Field(
        None, ge=1, description="Threads the language model computes with on a CPU; unset: a worker's share."
    )


class Spark(Section):
    model: str = Field(
        "spark",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$",
        description="The folder of `CHORUS_MODELS_DIR` with the model: Spark's own, or a fine-tune of it. Callers "
        "know the model by this name.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="What the codec computes on; `auto` takes a GPU where there is one."
    )
    segment_chars: int = Field(
        150,
        ge=40,
        le=400,
        description="Letters spoken in one go, at most; of scripts that say more with each sign, fewer. In "
        "longer ones words are lost.",
    )
    first_segment_chars: int = Field(
        60, ge=20, le=400, description="The same for the first one: it cannot be checked before it is heard."
    )
    hold_s: float = Field(
        1.5,
        ge=0,
        description="A listener with so much sound in hand gets no more of a segment until it is whole, and was "
        "checked. Less holds more back, and so can mend more of what a model gets wrong.",
    )
    checks: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Write a segment anew that cannot be its text, and end a request whose text stays unspoken. "
        "`off`: what the model writes is heard, whatever it is, and ended where it does not end; for weights that "
        "nobody has trained yet, and for measuring with them. `auto`: on, unless the model cannot even describe a "
        "speaker at the start.",
    )
    widen: str = Field(
        "off",
        min_length=1,
        description="How its 16 kHz become more: `off`; `soxr` resamples to 24 kHz, `soxr:48000` to 48; else a "
        "model, a file in `CHORUS_MODELS_DIR`. It can run code: take one only from whom you trust.",
    )
    cloning: Literal["off", "on"] = Field(
        "off",
        description="Let callers send a clip to be spoken like (`ref_audio`). A voice is somebody's: switch it on "
        "for callers who have leave to use it. Clips in the model's folder are voices either way.",
    )
    cloning_device: Literal["cpu", "cuda"] = Field(
        "cpu", description="What listens to clips; with `ref_text` it takes seconds on a CPU."
    )
