"""What vLLM does not do in our house."""

# Read by vLLM when it is imported, by its process too.
ENVIRONMENT = {
    # Workers are forked, and have threads and perhaps CUDA: a further fork would inherit locks that nobody opens.
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    # It phones nobody.
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    # Its log goes the way of every library's, from warnings on.
    "VLLM_CONFIGURE_LOGGING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # What else is installed and calls itself a plugin of vLLM's is not asked in.
    "VLLM_PLUGINS": "",
    # Python's keeper of shared things complains, in no form at all, when a process that had some was killed.
    "PYTHONWARNINGS": "ignore:resource_tracker:UserWarning",
}
