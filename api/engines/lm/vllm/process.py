"""What is ours in vLLM's process. It is imported there, and by whoever names it when the process is started."""

from vllm.v1.executor.uniproc_executor import UniProcExecutor

from api.offspring import settle_in


class HouseExecutor(UniProcExecutor):
    """vLLM's own for one device: the model is computed in the engine's process, without a third one beside it.

    Under Gunicorn the process has settled in already, through its main module; started by anything else, it does
    here, before it takes any memory of a GPU.
    """

    def _init_executor(self) -> None:
        settle_in()
        super()._init_executor()
