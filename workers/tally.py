"""What a server's workers have counted, for Prometheus, while none of them answers.

A server that stops may need minutes to end its streams, and whoever watches a restart wants to see just that.
"""

import asyncio
import json
from collections.abc import Mapping

from api.errors import InvalidApiKey
from api.settings import Settings


class Tally:
    """Reads what all processes of the server count together. The queue and the GPUs are told by workers alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def answer(self, asked: Mapping[str, str]) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers for a request with these headers."""
        return await asyncio.to_thread(self._answer, asked)

    def _answer(self, asked: Mapping[str, str]) -> tuple[int, bytes, dict[str, str]]:
        # Loaded when first asked for: the doorman must be there at once, and few will ask it for this.
        from prometheus_client.exposition import choose_encoder

        from api import metrics
        from api.admission import Callers

        try:
            Callers.who_watch(self._settings).find(asked.get("authorization"))
        except InvalidApiKey as refusal:
            return refusal.status, json.dumps(refusal.envelope()).encode(), refusal.headers
        encode, media_type = choose_encoder(asked.get("accept", ""))
        told = encode(metrics.told_by_all([(metrics.SERVES, (), 0)]))
        return 200, told, {"content-type": media_type, "cache-control": "no-cache"}
