"""The corpus of bad input, family by family, and the odd input that must not be refused."""

from collections.abc import Mapping

from tests.routes.bad_input import addresses, bodies, fields, texts, wire
from tests.routes.bad_input.case import CANARY, Case

__all__ = ["CANARY", "CORPUS", "FAMILIES", "Case"]

FAMILIES: Mapping[str, tuple[Case, ...]] = {
    "wrong types": tuple(fields.wrong_types()),
    "numbers": tuple(fields.numbers()),
    "strings": tuple(fields.strings()),
    "voices": tuple(fields.voices()),
    "capabilities": tuple(fields.capabilities()),
    "rules": tuple(fields.rules()),
    "texts": tuple(texts.texts()),
    "order": tuple(texts.what_is_known_first()),
    "bodies": tuple(bodies.bodies()),
    "content types": tuple(bodies.content_types()),
    "sizes": tuple(bodies.sizes()),
    "methods": tuple(addresses.methods()),
    "paths": tuple(addresses.paths()),
    "queries": tuple(addresses.queries()),
    "unreadable": tuple(wire.unreadable()),
    "readable": tuple(wire.readable()),
}
CORPUS: tuple[Case, ...] = tuple(case for family in FAMILIES.values() for case in family)
