"""The same server on Modal: `modal deploy modal_app.py`. No logic of its own.

With a GPU named, Kokoro on it: `modal run modal_app.py::download` once, then `GPU=L4 modal deploy modal_app.py`.
With `MODEL=spark` before both, and `GPU=L40S`, Spark-TTS on vLLM.
"""

import os
import subprocess
import sys

import modal

PORT = 8880
GPU = os.environ.get("GPU") or None
MODEL = os.environ.get("MODEL") or "kokoro"
EXTRAS = {"kokoro": ["kokoro", "kokoro-zh"], "spark": ["spark", "vllm"]}
HOME = "/srv/chorus"
SETTINGS = {
    "CHORUS_SERVER__HOST": "0.0.0.0",
    "CHORUS_SERVER__PORT": str(PORT),
    "CHORUS_SERVER__LOG": "json",
    # Modal's proxy asks for a token before anybody gets here.
    "CHORUS_AUTH__ANONYMOUS": "true",
    # Modal's notice before it takes a container away is 30 seconds.
    "CHORUS_SERVER__GRACE_S": "25",
    "CHORUS_MODELS_DIR": "/models",
}

if GPU:
    # Triton compiles its launchers where they run, and vLLM more than that.
    base = modal.Image.debian_slim(python_version="3.12").apt_install("gcc", "g++", "libc6-dev")
    installed = base.pip_install_from_pyproject("pyproject.toml", optional_dependencies=EXTRAS[MODEL])
else:
    installed = modal.Image.debian_slim(python_version="3.12").pip_install_from_pyproject("pyproject.toml")
image = (
    installed.env({"GPU": GPU, "MODEL": MODEL, "CHORUS_ENGINE": MODEL} if GPU else {})
    .env(SETTINGS)
    .workdir(HOME)
    # Whole folders, not Python sources alone: the queue's scripts are Lua.
    .add_local_dir("api", f"{HOME}/api", ignore=["**/__pycache__"])
    .add_local_dir("workers", f"{HOME}/workers", ignore=["**/__pycache__"])
)
app = modal.App("chorus", image=image)
models = modal.Volume.from_name("chorus-models", create_if_missing=True)


@app.function(volumes={"/models": models}, timeout=1800)
def download(model: str = MODEL) -> None:
    """A model's files into the volume, once."""
    command = [sys.executable, "-c", "from api.cli import main; main()", "download", model]
    subprocess.run(command, cwd=HOME, check=True)
    models.commit()


@app.function(
    gpu=GPU,
    volumes={"/models": models},
    min_containers=0,
    buffer_containers=1,
    scaledown_window=180,
    timeout=600,
)
@modal.concurrent(max_inputs=32, target_inputs=16)
# Only callers with a Modal proxy token get this far: a public address would start paid machines for anybody.
@modal.web_server(PORT, startup_timeout=300, requires_proxy_auth=True)
def serve() -> None:
    """Chorus, as `chorus serve` starts it anywhere."""
    subprocess.Popen([sys.executable, "-m", "workers.serve"], cwd=HOME)
