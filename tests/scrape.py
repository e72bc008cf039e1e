"""What a server tells Prometheus, for tests that hold it against what has happened."""

from collections.abc import Mapping

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.server import Server

Labels = frozenset[tuple[str, str]]


class Scrape:
    """One answer of `GET /metrics`. `value("chorus_requests_total", code="ok")` adds up what has these labels."""

    def __init__(self, text: str) -> None:
        self.samples = [
            (sample.name, frozenset(sample.labels.items()), sample.value)
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]

    def value(self, name: str, **labels: str) -> float:
        """Nothing is nought."""
        return sum(self.all(name, **labels).values())

    def all(self, name: str, **labels: str) -> Mapping[Labels, float]:
        wanted = frozenset(labels.items())
        return {found: value for called, found, value in self.samples if called == name and wanted <= found}

    def labels(self, name: str, label: str) -> set[str]:
        """The values that a label has."""
        return {dict(found)[label] for found in self.all(name)}


def scrape(server: Server, **headers: str) -> Scrape:
    """On a connection of its own: the worker that answers is the kernel's choice."""
    return Scrape(httpx.get(f"{server.url}/metrics", headers=headers, timeout=10).raise_for_status().text)
