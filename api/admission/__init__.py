"""May this request enter, and when? All of Redis lives in this room."""

from api.admission.alone import LoneGate
from api.admission.callers import Callers, new_key
from api.admission.estimate import Estimator, audio_seconds
from api.admission.gate import Gate
from api.admission.link import LinkDown
from api.admission.shared import SharedGate
from api.admission.ticket import Ticket
from api.admission.workers import bury, worker_id

__all__ = [
    "Callers",
    "Estimator",
    "Gate",
    "LinkDown",
    "LoneGate",
    "SharedGate",
    "Ticket",
    "audio_seconds",
    "bury",
    "new_key",
    "worker_id",
]
