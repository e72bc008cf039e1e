"""What an engine asks of a language model that speaks in tokens, and what it may rely on.

Tokens go in and tokens come out. Which words they stand for, and what they sound like, the engine knows.

- Asks run beside each other, as many as `most_at_once`; one more waits its turn, the urgent ones first.
- Closing the generator of an ask takes it out of the running batch within a step.
- The same ask with the same seed draws the same tokens, whatever else is in the batch, as far as the runtime says
  in `repeats`.
- A failure of one ask is raised as `EngineFailed` to it alone. When the model itself is lost, every ask raises,
  `is_lost` is true and `on_lost` was called: the engine says so to its `watch`, and the worker is replaced.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. Temperature 0 takes the likeliest, and draws nothing."""

    temperature: float = 0.8
    top_k: int = 50
    top_p: float = 0.95


GREEDY = Sampling(temperature=0)


@dataclass(frozen=True, slots=True)
class Ask:
    """A prompt to go on from.

    It ends before a token of `stop`, or after `most` tokens; for the first `least` tokens no `stop` is drawn.
    `allowed` are the ids that may be drawn besides those of `stop`: of a large vocabulary only so many rows are
    computed. What is not `urgent` waits for what is.
    """

    prompt: tuple[int, ...]
    stop: frozenset[int]
    most: int
    sampling: Sampling = Sampling()
    seed: int = 0
    urgent: bool = True
    least: int = 0
    allowed: range | None = None


class Ending(Enum):
    """Why there is no more."""

    STOP = "stop"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Tokens:
    """What was drawn since the last time, without the token it stopped at. The last of an ask has an ending."""

    ids: tuple[int, ...]
    ending: Ending | None = None


class LanguageModel(ABC):
    """One loaded model. `start` first; `stop` frees everything, child processes included."""

    # Whether the same ask draws the same tokens to the last, whatever else is in the batch. Known after `start`.
    repeats: bool
    # As many asks run beside each other. Known after `start`.
    most_at_once: int
    # The most tokens of a prompt and its answer together.
    context: int

    def __init__(self) -> None:
        # Called on the event loop when the model is lost, also while nobody asks anything of it.
        self.on_lost: Callable[[], object] = lambda: None

    @abstractmethod
    async def start(self) -> None:
        """Load. Raises EngineUnavailable, with what is wrong and what would help."""

    @abstractmethod
    async def stop(self) -> None:
        """End what runs and free what it took. Asks that still run fail."""

    @property
    @abstractmethod
    def is_lost(self) -> bool:
        """Whether nothing will ever come of this model again."""

    @abstractmethod
    def write(self, ask: Ask) -> AsyncGenerator[Tokens]:
        """Go on from a prompt. Raises InputTooLong where prompt and answer do not fit in `context`."""
