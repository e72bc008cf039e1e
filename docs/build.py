"""Writes the generated parts of these documents; `--check` only says which are stale.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from api import errors, settings
from api.audio import FORMATS
from api.engines.registry import ENGINES, engine_class
from api.errors import ChorusError, DownloadFailed, StartRefused
from api.metrics import METRICS
from api.settings import Settings
from api.text import RULES

HERE = Path(__file__).parent
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    stale = [path for path in sorted(HERE.glob("*.md")) if rebuilt(path) != path.read_text()]
    for path in stale:
        print(f"{'stale' if '--check' in sys.argv else 'written'}: {path.relative_to(HERE.parent)}")
        if "--check" not in sys.argv:
            path.write_text(rebuilt(path))
    return 1 if stale and "--check" in sys.argv else 0


def rebuilt(path: Path) -> str:
    """The document with its generated parts as they should be now."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", path.read_text())


def settings_table() -> str:
    rows = (
        (f"`{name}`", _default(field), field.description) for name, field in settings.environment_names().items()
    )
    return _table(("setting", "default", "meaning"), rows)


def errors_table() -> str:
    kinds = sorted(_family(ChorusError), key=lambda kind: (kind.status, kind.code))
    rows = ((str(kind.status), f"`{kind.code}`", f"`{kind.type}`", _first_line(kind)) for kind in kinds)
    return _table(("status", "code", "type", "when"), dict.fromkeys(rows))


def exits_table() -> str:
    kinds = sorted([*_family(StartRefused), DownloadFailed], key=lambda kind: kind.exit_code)
    return _table(("exit code", "when"), ((str(kind.exit_code), _first_line(kind)) for kind in kinds))


def formats_table() -> str:
    rows = (
        (f"`{row.name}`", row.media_type, f"{row.bit_rate // 1000} kbit/s" if row.bit_rate else "lossless",
         ", ".join(map(str, row.rates_hz)))
        for row in FORMATS.values()
    )  # fmt: skip
    return _table(("format", "media type", "bit rate", "sample rates, Hz"), rows)


def metrics_table() -> str:
    rows = (
        (f"`{metric.name}`", metric.kind, ", ".join(f"`{label}`" for label in metric.labels), metric.meaning)
        for metric in METRICS
    )
    return _table(("metric", "kind", "labels", "meaning"), rows)


def rules_list() -> str:
    return ", ".join(f"`{rule}`" for rule in RULES)


def engines_table() -> str:
    cards = [asyncio.run(engine_class(name).described(Settings(engine=name))) for name in sorted(ENGINES)]
    rows = (
        (f"`{card.name}`", f"{card.sample_rate_hz}", str(len(card.languages)), str(len(card.voices)),
         ", ".join(sorted(card.capabilities)), str(card.limits.slots))
        for card in cards
    )  # fmt: skip
    return _table(("engine", "native rate, Hz", "languages", "own voices", "can", "slots a CPU worker"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings_table,
    "errors": errors_table,
    "exits": exits_table,
    "formats": formats_table,
    "rules": rules_list,
    "metrics": metrics_table,
    "engines": engines_table,
}


def _family(kind: type[Any]) -> Iterator[type[Any]]:
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            # A class without a code of its own is a family name, and never what a caller gets.
            if {"code", "exit_code"} & vars(child).keys():
                yield child
            yield from _family(child)


def _first_line(kind: type[Any]) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


def _default(field: Any) -> str:
    return "unset" if field.default is None else f"`{field.default}`"


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [" | ".join(row) for row in (head, ("---",) * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
