"""Spark's files on the hub."""

from api.engines.published import Published

SPARK = Published(
    name="spark",
    repository="SparkAudio/Spark-TTS-0.5B",
    about="Spark-TTS-0.5B: English and Chinese, voices by gender, pitch, speed (CC BY-NC-SA: no commercial use)",
    files=(
        "config.yaml",
        "LLM/config.json",
        "LLM/model.safetensors",
        "LLM/tokenizer.json",
        "LLM/tokenizer_config.json",
        "BiCodec/config.yaml",
        "BiCodec/model.safetensors",
    ),
)
