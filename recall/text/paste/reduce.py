"""Reduce: what a person says in a long message, without what was pasted into it. Pure functions over lines."""

from collections.abc import Callable, Collection, Iterator

from recall.text.paste import shapes
from recall.text.paste.lines import Kind, kind_of

#: A message up to this size is searched as it is: it costs little, and a paste this short does not drown the question.
SHORT_CHARACTERS = 300
SHORT_LINES = 6
#: This many lines "key: value" next to each other are a settings file, not a person's list.
_FEWEST_SETTINGS = 3
#: Up to this many unmarked lines of output go with the marked ones around them.
_LONGEST_LOOSE = 3

_PASTED = frozenset({Kind.PASTE, Kind.TELLING})
_TELLING = frozenset({Kind.TELLING, Kind.FENCED_TELLING})
_DROPPED = _PASTED | {Kind.FENCED, Kind.FENCED_TELLING}
_DECIDED = _DROPPED | {Kind.BLANK}


def reduce(message: str) -> str:
    """What a person says in a message: its prose, and of each paste at most the one line that tells what failed.

    A short message comes back as it is; one that is paste alone gives "". The result is made of whole lines of the
    message in their order and is its own reduction. Takes time linear in the length of the message.
    """
    lines = message.splitlines()
    if len(message) <= SHORT_CHARACTERS and len(lines) <= SHORT_LINES:
        return message
    kinds = _kinds(lines)
    _settle(kinds)
    if _DECIDED.issuperset(kinds):
        return ""
    if _DROPPED.isdisjoint(kinds):
        return message
    kept: list[str] = []
    done = 0
    for start, end in _runs(kinds, _DECIDED):
        kept += lines[done:start]
        kept += _remains(lines, kinds, start, end)
        done = end
    return "\n".join(kept + lines[done:])


def _remains(lines: list[str], kinds: list[Kind], start: int, end: int) -> list[str]:
    """What stays of a run of paste and blank lines: the telling line, and one blank where it parted the prose."""
    inside = start > 0 and end < len(lines)
    if _DROPPED.isdisjoint(kinds[start:end]):
        return lines[start:end] if inside else []
    first = [lines[start]] if kinds[start] is Kind.BLANK and start > 0 else []
    last = [lines[end - 1]] if kinds[end - 1] is Kind.BLANK and end < len(lines) else []
    telling = [at for at in range(start, end) if kinds[at] in _TELLING]
    if not telling:
        return (first or last) if inside else []
    best = max(telling, key=lambda at: (not shapes.HOLLOW.search(lines[at]), at))
    return [*first, lines[best], *last]


def _runs(kinds: list[Kind], wanted: Collection[Kind]) -> Iterator[tuple[int, int]]:
    """Start and end of each longest run of lines of the wanted kinds."""
    at = 0
    while at < len(kinds):
        start = at
        while at < len(kinds) and kinds[at] in wanted:
            at += 1
        if at > start:
            yield start, at
        at += 1


def _kinds(lines: list[str]) -> list[Kind]:
    """The kind of each line: what a diff's hunks and code fences hold, the others by themselves."""
    kinds: list[Kind] = []
    opening = 0  # the line after which a fence is open, counted from one
    fence = ""
    fences = True
    old = new = 0  # lines that the hunk still has
    at = 0
    while at < len(lines):
        line = lines[at]
        text = line.strip()
        at += 1
        mark = shapes.FENCE.match(text)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = ""
                kinds.append(Kind.FENCED)
            elif at == len(lines):  # it was never closed: what follows it is read as if it were not there
                kinds[opening:] = []
                at, fence, fences = opening, "", False
            else:
                telling = text != "" and kind_of(line) is Kind.TELLING
                kinds.append(Kind.FENCED_TELLING if telling else Kind.FENCED)
        elif mark:
            opening, fence = at, mark[1] if fences else ""
            kinds.append(Kind.FENCED)
        elif (old > 0 or new > 0) and line[:1] in {"", " ", "-", "+", "\\"}:
            old -= line[:1] not in {"+", "\\"}
            new -= line[:1] not in {"-", "\\"}
            kinds.append(Kind.PASTE)
        else:
            hunk = shapes.HUNK.match(text)
            old, new = (int(hunk[1] or 1), int(hunk[2] or 1)) if hunk else (0, 0)
            kinds.append(Kind.PASTE if hunk else kind_of(line))
    return kinds


def _settle(kinds: list[Kind]) -> None:
    """Make paste of the undecided lines that stand among paste.

    Telling lines alone never decide that: what a reduction leaves would otherwise be reduced again.
    """
    for undecided, belongs in _RULES:
        for start, end in _runs(kinds, undecided):
            if belongs(kinds, start, end):
                kinds[start:end] = [kind if kind in _DECIDED else Kind.PASTE for kind in kinds[start:end]]


def _touches(kinds: list[Kind], start: int, end: int) -> bool:
    return Kind.PASTE in kinds[max(0, start - 1) : start] + kinds[end : end + 1]


def _between(kinds: list[Kind], start: int, end: int) -> bool:
    return Kind.PASTE in _around(kinds, start, end, 1)


def _leads(kinds: list[Kind], start: int, end: int) -> bool:
    return kinds[end : end + 1] == [Kind.PASTE]


def _sunk(kinds: list[Kind], start: int, end: int) -> bool:
    return end - start <= _LONGEST_LOOSE and Kind.PASTE in _around(kinds, start, end, 2)


def _are_settings(kinds: list[Kind], start: int, end: int) -> bool:
    return kinds[start:end].count(Kind.SETTING) >= _FEWEST_SETTINGS


def _around(kinds: list[Kind], start: int, end: int, depth: int) -> list[Kind]:
    """The `depth` lines on each side of a run if all of them are there and paste, else none."""
    near = kinds[max(0, start - depth) : start] + kinds[end : end + depth]
    return near if len(near) == 2 * depth and _PASTED.issuperset(near) else []


#: Which runs belong to the paste around them, in this order: a run may be settled by one that was settled before.
_RULES: tuple[tuple[Collection[Kind], Callable[[list[Kind], int, int], bool]], ...] = (
    ({Kind.INDENTED}, _touches),
    ({Kind.INDENTED, Kind.BLANK}, _between),
    ({Kind.WEAK}, _between),
    ({Kind.REMARK, Kind.BLANK}, _between),
    ({Kind.REMARK}, _leads),
    ({Kind.LOOSE}, _sunk),
    ({Kind.SETTING, *_DECIDED}, _are_settings),
)
