"""May this request enter, and when?"""

from api.admission.estimate import audio_seconds
from api.admission.local import LocalGate, Ticket

__all__ = ["LocalGate", "Ticket", "audio_seconds"]
