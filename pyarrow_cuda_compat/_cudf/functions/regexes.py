"""Regular expressions of RE2, which pyarrow uses, as such of libcudf's.

Whether an expression matches does not depend on which match is found.  So both answer alike for
each regular language, once the characters are spelled out on which they differ.
"""

from __future__ import annotations

import re
from typing import NoReturn

from ..refusals import NotCovered

_Ranges = list[tuple[str, str]]
_DIGIT: _Ranges = [("0", "9")]
_LETTER: _Ranges = [("A", "Z"), ("a", "z")]
_SPACE: _Ranges = [("\t", "\n"), ("\f", "\r"), (" ", " ")]
#: Escapes that stand for several characters, which are those of ASCII in RE2.
_SHORT: dict[str, _Ranges] = {"d": _DIGIT, "s": _SPACE, "w": [*_DIGIT, *_LETTER, ("_", "_")]}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_GROUP = re.compile(r"\((?:\?:|\?P?<[A-Za-z_][A-Za-z0-9_]*>)?(?!\?)")
_COUNT = re.compile(r"\{([0-9]{1,3})(?:(,)([0-9]{1,3})?)?\}")
#: No expression of so many states is compiled on a device.
_MOST_COUNT = 100


class Translation:
    """An expression of RE2, as it is read."""

    def __init__(self, pattern: str, *, ignores_case: bool) -> None:
        self.pattern = pattern
        self.ignores_case = ignores_case
        self.place = 0

    def result(self) -> str:
        """The same expression for libcudf."""
        found = self._alternatives(is_top=True)
        if self.place < len(self.pattern):
            self._refuse()
        return found

    def _refuse(self) -> NoReturn:
        raise NotCovered("not with such a regular expression")

    def _next(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def _take(self) -> str:
        found = self._next()
        if not found or found == "\0":
            self._refuse()
        self.place += 1
        return found

    def _alternatives(self, *, is_top: bool) -> str:
        found = [self._sequence(is_top=is_top)]
        while self._next() == "|":
            self.place += 1
            found.append(self._sequence(is_top=is_top))
        return "|".join(found)

    def _sequence(self, *, is_top: bool) -> str:
        """Anchors are at its ends; libcudf's `$` also stands before a last newline."""
        found = ""
        if is_top and self._next() == "^":
            found += self._take()
        before = self.place
        while self._next() not in ("", "|", ")", "$"):
            found += self._repeated()
        if self.place == before:
            self._refuse()
        if is_top and self._next() == "$":
            self.place += 1
            found += r"\Z"
            if self._next() not in ("", "|"):
                self._refuse()
        return found

    def _repeated(self) -> str:
        found = self._group() if self._next() == "(" else self._one()
        if self._next() in ("*", "+", "?"):
            found += self._take()
        elif count := _COUNT.match(self.pattern, self.place):
            least, most = int(count[1]), int(count[3] or count[1])
            if not least <= most <= _MOST_COUNT or most == 0:
                self._refuse()
            self.place = count.end()
            found += count[0]
        else:
            return found
        if self._next() == "?":  # the shortest match is one, too
            self.place += 1
        if self._next() in ("*", "+", "?", "{"):
            self._refuse()
        return found

    def _group(self) -> str:
        start = _GROUP.match(self.pattern, self.place)
        if start is None:
            self._refuse()
        self.place = start.end()
        found = self._alternatives(is_top=False)
        if self._take() != ")":
            self._refuse()
        is_repeated = self._next() in ("*", "+", "?", "{")
        if is_repeated and re.fullmatch(found, ""):
            self._refuse()
        return f"(?:{found})"

    def _one(self) -> str:
        character = self._take()
        if character in ")*+?{}]^$|":
            self._refuse()
        if character == ".":
            return character
        if character == "[":
            return self._set()
        if character == "\\":
            character = self._take()
            if character.lower() in _SHORT:
                return self._class(list(_SHORT[character.lower()]), negates=character.isupper())
            character = self._escaped(character)
        return self._class([(character, character)], negates=False)

    def _escaped(self, character: str) -> str:
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character.isalnum() or not character.isascii():
            self._refuse()
        return character

    def _set(self) -> str:
        negates = self._next() == "^"
        self.place += negates
        if self._next() == "]":
            self._refuse()
        ranges: _Ranges = []
        while self._next() != "]":
            ranges.extend(self._range())
        self.place += 1
        return self._class(ranges, negates=negates)

    def _range(self) -> _Ranges:
        first = self._take()
        if first == "[" and self._next() in (":", ".", "="):
            self._refuse()
        if first == "-" and self._next() != "]" and self.pattern[self.place - 2] not in "[^":
            self._refuse()
        if first == "\\":
            first = self._take()
            if first in _SHORT:
                return _SHORT[first]
            first = self._escaped(first)
        if self._next() != "-" or self.pattern[self.place + 1 : self.place + 2] == "]":
            return [(first, first)]
        self.place += 1
        last = self._take()
        if last == "\\":
            last = self._escaped(self._take())
        if last in ("[", "-") or last < first:
            self._refuse()
        return [(first, last)]

    def _class(self, ranges: _Ranges, *, negates: bool) -> str:
        """A set of characters, without regard to case if so."""
        if self.ignores_case:
            ranges = [*ranges, *_of_other_case(ranges)]
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and not negates:
            (character, _), *_rest = ranges
            return f"\\{character}" if character in r".^$*+?()[]{}|\\" else character
        texts = (
            _in_set(low) + ("" if low == high else f"-{_in_set(high)}") for low, high in ranges
        )
        return f"[{'^' * negates}{''.join(texts)}]"


def _in_set(character: str) -> str:
    return f"\\{character}" if character in r"\\^-]" else character


def _of_other_case(ranges: _Ranges) -> _Ranges:
    """The ASCII letters in ranges, in the other case."""
    found = {chr(code) for low, high in ranges for code in range(ord(low), min(ord(high), 127) + 1)}
    return [(it, it) for it in sorted(each.swapcase() for each in found if each.isalpha())]
