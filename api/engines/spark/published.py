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

# By itself, since it is as large as all the rest, and any model's: only callers' clips and transcripts need it.
SPARK_CLONING = Published(
    name="spark-cloning",
    repository="SparkAudio/Spark-TTS-0.5B",
    about="what Spark needs besides to clone voices (CHORUS_SPARK__CLONING=on)",
    files=(
        "wav2vec2-large-xlsr-53/config.json",
        "wav2vec2-large-xlsr-53/preprocessor_config.json",
        "wav2vec2-large-xlsr-53/pytorch_model.bin",
    ),
)
