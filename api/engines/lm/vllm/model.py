"""vLLM's AsyncLLM behind the contract: asks in, tokens out, and an end that is noticed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

from api import tasks
from api.engines.lm.asked import refuse_the_impossible
from api.engines.lm.base import Ask, Ending, LanguageModel, Tokens
from api.engines.lm.plan import Plan
from api.engines.lm.shape import Shape
from api.engines.lm.vllm.arguments import arguments
from api.engines.lm.vllm.manners import ENVIRONMENT
from api.engines.lm.vllm.turns import turn_on
from api.errors import EngineFailed, EngineUnavailable
from api.settings import Settings, library_environment

# So often it is looked whether the engine's process is still there, for when nobody asks it anything.
LOOKS_EVERY_S = 0.25
LOST = "The language model's process has ended."


class VllmModel(LanguageModel):
    """One engine, in a process of its own."""

    # It draws by seed, but a batch of another size rounds otherwise, and now and then another token wins.
    repeats = False

    def __init__(
        self,
        folder: Path,
        shape: Shape,
        settings: Settings,
        plan: Plan,
        gpu_id: str | None,
        again: Callable[[], Plan],
    ) -> None:
        """`again` plans once more when it is this engine's turn: others may have taken memory meanwhile."""
        super().__init__()
        self._folder = folder
        self._shape = shape
        self._settings = settings
        self._gpu_id = gpu_id
        self._again = again
        self.most_at_once, self.context = plan.most_at_once, plan.context
        self._numbers = count()
        # The kernel ends the engine's process with the thread that started it: this one lives until `stop`.
        self._thread = ThreadPoolExecutor(1, "vllm")
        self._engine: Any = None
        self._looking: asyncio.Task[None] | None = None
        self._stopped = False

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._engine = await loop.run_in_executor(self._thread, self._begin)
        except EngineUnavailable:
            await self.stop()
            raise
        except Exception as error:
            await self.stop()
            raise EngineUnavailable(
                f"vLLM could not start with {self._folder}: {error} What its process said is above."
            ) from error
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        self._stopped = True
        if self._looking is not None:
            await tasks.end(self._looking)
        if self._engine is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.shutdown)
            # It does so once more when it is collected, and at the process's end finds its own libraries gone.
            self._engine.shutdown = lambda: None
        self._thread.shutdown(wait=False)

    @property
    def is_lost(self) -> bool:
        return not self._stopped and self._engine is not None and bool(self._engine.errored)

    async def write(self, ask: Ask) -> AsyncGenerator[Tokens]:
        from vllm.v1.engine.exceptions import EngineDeadError

        refuse_the_impossible(ask, self.context, self._shape.vocabulary)
        if self._stopped or self._engine is None:
            raise EngineFailed("The engine was stopped.")
        told = {"type": "token", "prompt_token_ids": list(ask.prompt)}
        number, priority = str(next(self._numbers)), 0 if ask.urgent else 1
        made = self._engine.generate(told, _sampling(ask), number, priority=priority)
        try:
            async with aclosing(made):
                async for output in made:
                    tokens = _tokens(output.outputs[0], ask)
                    yield tokens
        except EngineDeadError:
            raise EngineFailed("The engine was stopped." if self._stopped else LOST) from None
        except EngineFailed:
            raise
        except Exception as error:
            raise EngineFailed("The language model failed on this request.") from error

    def _begin(self) -> Any:
        """On the thread; for half a minute and more."""
        turn = turn_on(self._gpu_id) if self._gpu_id else nullcontext()
        threads = self._settings.lm.threads
        limits = {} if threads is None else {"OMP_NUM_THREADS": str(threads)}
        with library_environment(ENVIRONMENT, **limits), turn:
            plan = self._again()
            from vllm.engine.arg_utils import AsyncEngineArgs
            from vllm.v1.engine.async_llm import AsyncLLM

            from api.engines.lm.vllm.process import HouseExecutor

            told = arguments(self._folder, plan, graphs=self._settings.lm.graphs)
            return AsyncLLM.from_engine_args(AsyncEngineArgs(**told, distributed_executor_backend=HouseExecutor))

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOKS_EVERY_S)
            if self.is_lost:
                self.on_lost()
                return


def _sampling(ask: Ask) -> Any:
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    sampling = ask.sampling
    greedy = sampling.temperature <= 0
    return SamplingParams(
        temperature=0.0 if greedy else sampling.temperature,
        top_k=0 if greedy else sampling.top_k,
        top_p=1.0 if greedy else sampling.top_p,
        seed=None if greedy else ask.seed & (1 << 63) - 1,
        max_tokens=ask.most,
        min_tokens=min(ask.least, ask.most),
        stop_token_ids=sorted(ask.stop),
        # Only what the ask calls a stop is one.
        ignore_eos=True,
        allowed_token_ids=_allowed(ask),
        detokenize=False,
        output_kind=RequestOutputKind.DELTA,
        skip_clone=True,
    )


def _allowed(ask: Ask) -> list[int] | None:
    return None if ask.allowed is None else sorted({*ask.allowed, *ask.stop})


def _tokens(output: Any, ask: Ask) -> Tokens:
    """vLLM counts the token it stopped at among the others."""
    ids, reason = tuple(output.token_ids), output.finish_reason
    if reason is None:
        return Tokens(ids)
    if reason == "stop":
        return Tokens(ids[:-1] if ids and ids[-1] in ask.stop else ids, Ending.STOP)
    if reason == "length":
        return Tokens(ids, Ending.LENGTH)
    raise EngineFailed("The language model gave this request up.")
