"""What a caller does when it is sent away."""

from random import Random

from api.bench.records import REFUSALS, Outcome, Record

# OpenAI's Python client: at most two retries, and no wait above two minutes is waited for.
SDK_RETRIES = 2
SDK_LONGEST_WAIT_S = 120.0
SDK_BACKOFF_S = (0.5, 8.0)
SDK_STATUSES = (408, 409, 429)


def wait_before_retry(policy: str, record: Record, random: Random) -> float | None:
    """Seconds until this caller asks again; None when it gives up."""
    if policy == "told":
        return _told(record)
    if policy == "sdk":
        return _sdk(record, random)
    return None


def _told(record: Record) -> float | None:
    """Once, when the server said."""
    if record.attempt > 1 or record.status not in REFUSALS or record.should_retry == "false":
        return None
    return record.told_s


def _sdk(record: Record, random: Random) -> float | None:
    told_s = record.told_s
    if record.attempt > SDK_RETRIES or (told_s is not None and told_s > SDK_LONGEST_WAIT_S):
        return None
    if not _sdk_retries(record):
        return None
    if told_s is not None and told_s > 0:
        return told_s
    first_s, longest_s = SDK_BACKOFF_S
    return float(min(first_s * 2 ** (record.attempt - 1), longest_s)) * (1 - 0.25 * random.random())


def _sdk_retries(record: Record) -> bool:
    if record.outcome in (Outcome.WHOLE, Outcome.CUT, Outcome.UNSENT):
        return False
    if record.outcome is Outcome.LOST:
        return True
    if record.should_retry in ("true", "false"):
        return record.should_retry == "true"
    return record.status in SDK_STATUSES or record.status >= 500
