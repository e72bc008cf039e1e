"""Times of day, as they are said, and ratios, which look the same."""

import re
from collections.abc import Iterator

from api.text.normalize.hindi.letters import LETTER
from api.text.normalize.hindi.numerals import halved
from api.text.rule import Rule
from api.text.traced import Edit, groups

_CLOCK = re.compile(
    rf"(?<![\w{LETTER}.:])(?P<time>(?P<hour>2[0-4]|1[0-9]|0?[0-9])(?P<dot>[:.])(?P<minute>[0-5][0-9])"
    rf"(?::(?P<second>[0-5][0-9]))?)(?![0-9:]|\.[0-9])"
    rf"(?P<oclock>[ ]?बजे(?![{LETTER}])(?P<case>[ ](?:से|तक|के|का|की|को|पर)(?![{LETTER}]))?)?"
)
_RATIO = re.compile(rf"(?<![\w{LETTER}.:])[0-9]{{1,4}}(?P<colon>[ ]?:[ ]?)[0-9]{{1,4}}(?![\w{LETTER}:]|\.[0-9])")


_QUARTERS = {"15": "25", "30": "5", "45": "75"}


def _clock(match: re.Match[str]) -> Iterator[Edit] | None:
    """`5:30 बजे` as "साढ़े 5 बजे", `5:20 बजे` as "5 बजकर 20 मिनट पर", `17:45` as "17 बजकर 45 मिनट"."""
    if match["dot"] == "." and (match["oclock"] is None or match["second"]):
        return None
    hour, minute = str(int(match["hour"])), match["minute"]
    if match["second"] not in (None, "00"):
        return _exactly(match, f"{hour} बजकर {int(minute)} मिनट {int(match['second'])} सेकंड")
    if minute == "00":
        return _with_oclock(match, hour)
    if match["oclock"] and 1 <= int(hour) <= 12 and minute in _QUARTERS:
        return _with_oclock(match, _to_the_quarter(hour, minute))
    return _exactly(match, f"{hour} बजकर {int(minute)} मिनट")


def _to_the_quarter(hour: str, minute: str) -> str:
    if (hour, minute) == ("1", "15"):
        return "सवा 1"
    return halved(f"{hour}.{_QUARTERS[minute]}").replace("13", "1")


def _with_oclock(match: re.Match[str], hour: str) -> Iterator[Edit]:
    yield (*match.span("time"), hour if match["oclock"] else f"{hour} बजे")


def _exactly(match: re.Match[str], time: str) -> Iterator[Edit]:
    """To the minute, "बजे" is not said; but the time is still the time at which something happens."""
    yield (*match.span("time"), time)
    if match["oclock"]:
        start = match.start("oclock")
        end = match.start("case") if match["case"] else match.end("oclock")
        yield (start, end, "" if match["case"] else " पर")


TIMES = Rule("times", ((_CLOCK, _clock), (_RATIO, lambda match: groups(match, colon=" अनुपात "))))
