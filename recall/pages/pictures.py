"""Pictures of numbers as SVG that stands in the page: histograms with thresholds, and bars."""

import math
from collections.abc import Mapping, Sequence

from recall.pages.page import Markup, paragraph, text
from recall.pages.style import SERIES

_WIDTH = 720
#: Left of a lane stands its label; this much to the right of it keeps the last number inside the picture.
_LABELS, _MARGIN = 170, 20
_LANE, _BAR = 70, 16
_THRESHOLD_ROW = 15
#: Width of a Latin letter of the labels, at most.
_LETTER = 7
#: Widest text that a label column holds; CJK characters are twice as wide as Latin ones.
_LABEL_CELLS = 25
_WIDE_FROM = 0x2E80


def histogram(
    series: Mapping[str, Sequence[float]],
    thresholds: Mapping[str, float] | None = None,
    *,
    caption: str = "",
    bins: int = 36,
) -> Markup:
    """Distributions over one axis, a lane for each label, with `thresholds` (label to value) drawn through all lanes.

    Each lane is scaled to its own number of values, so that ten questions compare with thirty messages. Values that
    are not finite are left out.
    """
    finite = {label: [value for value in values if math.isfinite(value)] for label, values in series.items()}
    lines = {label: value for label, value in (thresholds or {}).items() if math.isfinite(value)}
    values = [value for lane in finite.values() for value in lane]
    if not values:
        return paragraph(f"{caption}: no values" if caption else "no values")
    low, high = min(values + list(lines.values())), max(values + list(lines.values()))
    high = high if high > low else low + 1.0
    shares = {label: _shares(lane, low, high, bins) for label, lane in finite.items()}
    tallest = max(max(lane) for lane in shares.values()) or 1.0
    inner = _WIDTH - _LABELS - _MARGIN
    top = 6 + _THRESHOLD_ROW * len(lines)
    bottom = top + _LANE * len(finite)

    def x(value: float) -> float:
        return _LABELS + inner * (value - low) / (high - low)

    parts: list[str] = []
    for number, (label, lane) in enumerate(shares.items()):
        base = top + _LANE * (number + 1)
        parts.append(_text(0, base - _LANE / 2, _cut(label), "strong"))
        parts.append(_text(0, base - _LANE / 2 + 15, f"{len(finite[label])} values"))
        for place, share in enumerate(lane):
            height = (_LANE - 12) * share / tallest
            if height:
                parts.append(
                    _rectangle(_LABELS + inner * place / bins, base - height, inner / bins - 1, height, number)
                )
        parts.append(f'<line class="axis" x1="{_LABELS}" y1="{base}" x2="{_WIDTH - _MARGIN}" y2="{base}"/>')
    named: list[str] = []
    for number, (label, value) in enumerate(sorted(lines.items(), key=lambda line: line[1])):
        # A line begins beside its label and those to its right begin lower, so that none runs through a label.
        y = 12 + _THRESHOLD_ROW * number
        parts.append(f'<line class="threshold" x1="{x(value):.1f}" y1="{y - 9}" x2="{x(value):.1f}" y2="{bottom}"/>')
        shown = f"{label} {value:.3g}"
        fits = x(value) + 6 + _LETTER * _cells(shown) <= _WIDTH
        named.append(_text(x(value) + (6 if fits else -6), y, shown, "threshold-label", "start" if fits else "end"))
    parts += named
    for tick in _ticks(low, high):
        parts.append(_text(x(tick), bottom + 16, f"{tick:.6g}", anchor="middle"))
    return _figure(parts, bottom + 24, caption)


def bars(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, caption: str = "") -> Markup:
    """Bars to the right, for each label one of each series, in the order given, with their values beside them.

    Every series holds as many values as there are labels, none of them negative.
    """
    if not labels or not series:
        return paragraph(f"{caption}: no values" if caption else "no values")
    highest = max((value for values in series.values() for value in values), default=0) or 1
    inner = _WIDTH - _LABELS - 70
    parts: list[str] = []
    y = 4.0
    if len(series) > 1:
        x = float(_LABELS)
        for number, name in enumerate(series):
            parts.append(_rectangle(x, y + 2, 11, 11, number))
            parts.append(_text(x + 16, y + 12, _cut(name)))
            x += 34 + _LETTER * _cells(_cut(name))
        y += 24
    for place, label in enumerate(labels):
        parts.append(_text(0, y + _BAR * len(series) / 2 + 4, _cut(label), "strong"))
        for number, values in enumerate(series.values()):
            width = inner * values[place] / highest
            parts.append(_rectangle(_LABELS, y + 1, max(width, 1), _BAR - 3, number))
            parts.append(_text(_LABELS + width + 6, y + _BAR - 4, f"{values[place]:.4g}"))
            y += _BAR
        y += 7
    return _figure(parts, y, caption)


def _figure(parts: Sequence[str], height: float, caption: str) -> Markup:
    title = text(caption)
    shown = f"<figcaption>{title}</figcaption>" if caption else ""
    return Markup(
        f'<figure>{shown}<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{title}">\n'
        + "\n".join(parts)
        + "\n</svg></figure>"
    )


def _shares(values: Sequence[float], low: float, high: float, bins: int) -> list[float]:
    """The share of the values in each of `bins` equal steps from `low` to `high`, which itself is in the last."""
    counts = [0] * bins
    for value in values:
        counts[min(int(bins * (value - low) / (high - low)), bins - 1)] += 1
    return [count / len(values) if values else 0.0 for count in counts]


def _ticks(low: float, high: float) -> list[float]:
    """Four to nine round numbers from `low` to `high`."""
    rough = (high - low) / 6
    step = 10.0 ** math.floor(math.log10(rough))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= rough)
    first = math.ceil(low / step)
    return [round(number * step, 12) for number in range(first, math.floor(high / step) + 1)]


def _text(x: float, y: float, value: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text(value)}</text>'


def _rectangle(x: float, y: float, width: float, height: float, series: int) -> str:
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="series-{series % SERIES}" {shape}/>'


def _cut(label: str) -> str:
    """The label, or as much of it as fits beside a lane."""
    used = 0
    for place, character in enumerate(label):
        used += 2 if ord(character) >= _WIDE_FROM else 1
        if used > _LABEL_CELLS:
            return label[: place - 1].rstrip() + "…"
    return label


def _cells(label: str) -> int:
    return sum(2 if ord(character) >= _WIDE_FROM else 1 for character in label)
