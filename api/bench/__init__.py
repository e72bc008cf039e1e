"""A load generator for any speech server that speaks OpenAI's endpoint.

    profile  ->  arrivals  ->  client  ->  records  ->  report
    what to ask  when, by whom  one attempt  what came back  what it means

A profile is written down first and its arrivals are drawn from its seed, before anything is sent. Every time is
counted from the moment at which a request was *due*, so a server that stalls cannot hide the requests that waited.

    from api.bench import Caller, Length, Phase, Profile, run

    report = run(Profile(url="http://localhost:8880", phases=[Phase(rate=20, duration_s=10)]))
    print(report.total.goodput.audio_s_per_s, report.total.first_audio_ms.p99)
"""

from api.bench.arrivals import Arrival, schedule
from api.bench.figures import Percentiles, Summary, summarize
from api.bench.profile import Caller, Length, Phase, Profile
from api.bench.records import Outcome, Record
from api.bench.report import Report
from api.bench.runs import measure, run
from api.bench.table import render

__all__ = [
    "Arrival",
    "Caller",
    "Length",
    "Outcome",
    "Percentiles",
    "Phase",
    "Profile",
    "Record",
    "Report",
    "Summary",
    "measure",
    "render",
    "run",
    "schedule",
    "summarize",
]
