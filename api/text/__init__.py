"""Text becomes a Plan: what to say, in which pieces, with which silences, and whose words they are.

Pure: no files, no network, no settings, no clock.
"""

from api.text.normalize import MASTER_SWITCH, RULES
from api.text.planning import plan
from api.text.script import Part, read_script
from api.text.ssml import DESCRIPTION as SSML
from api.text.ssml import as_tags as ssml_as_tags

__all__ = ["MASTER_SWITCH", "RULES", "SSML", "Part", "plan", "read_script", "ssml_as_tags"]
