"""Reliability, ROC and net benefit as SVG in the colours of the page; no names from the data are in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hornbeam.evaluation.calibration import ReliabilityCurve
from hornbeam.evaluation.discrimination import RocCurve
from hornbeam.reporting.markup import Markup, element, joined
from hornbeam.typing import Floats

_SIDE, _LEFT, _TOP = 300, 44, 10  # the square, and the margins beside and above it
_STRIP = 46  # the height of the rows below
_DASHES = (None, "7 3", "2 2.5", "9 3 2 3", "4 2", "1 4")
_STEPS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of net benefit
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability(
    curve: ReliabilityCurve,
    label: str,
    scale: tuple[float, float] = (0.0, 1.0),
    axes: tuple[str, str] = ("predicted probability", "share of rows seen"),
) -> Markup:
    """Draw predicted against observed values with confidence bands, above the numbers of rows.

    `label` is what a screen reader says of the picture, `scale` where both axes begin and end.
    """
    across, down = _LEFT + _SIDE + 12, _TOP + _SIDE + _STRIP + 62
    room = 0 if scale == (0.0, 1.0) else 26  # a wider margin for numbers longer than shares
    middle, title_text = _LEFT + _SIDE / 2, list(map(_words, _columns(curve)))
    curve = _on_scale(curve, scale)
    parts = [
        _frame(scale, _TOP + _SIDE + _STRIP + 32),
        _band(curve),
        element("path", class_="line", d=_line(curve.predicted, curve.observed)),
        *(_point(words, *numbers[:4]) for words, numbers in zip(title_text, _columns(curve), strict=True)),
        _strip(curve),
        _text(middle, down - 6, axes[0], "middle"),
        element(
            "text",
            axes[1],
            x=0,
            y=0,
            text_anchor="middle",
            transform=f"translate({11 - room} {_TOP + _SIDE / 2}) rotate(-90)",
        ),
    ]
    return element(
        "svg",
        *parts,
        class_="reliability",
        viewBox=f"{-room} 0 {across + 2 * room} {down}",
        role="img",
        aria_label=label,
    )


def roc(curve: RocCurve, label: str) -> Markup:
    """Draw a ROC curve."""
    across, down = _LEFT + _SIDE + 12, _TOP + _SIDE + 40
    side = f"translate(11 {_TOP + _SIDE / 2}) rotate(-90)"
    parts = [
        _frame((0.0, 1.0), _TOP + _SIDE + 18),
        element("path", class_="line", d=_line(*_thinned(curve))),
        _text(_LEFT + _SIDE / 2, down - 4, "false positive rate", "middle"),
        element("text", "true positive rate", x=0, y=0, text_anchor="middle", transform=side),
    ]
    return element(
        "svg", *parts, class_="reliability", viewBox=f"0 0 {across} {down}", role="img", aria_label=label
    )


def net_benefits(thresholds: Floats, curves: Sequence[Floats], every: Floats, label: str) -> Markup:
    """Draw the net benefit of models against the threshold, that of alerts for `every` row, and that of none."""
    across, down = _LEFT + _SIDE + 12, _TOP + _SIDE + 40
    highest = max(float(values.max()) for values in (*curves, every))
    low, high = -0.15 * highest, 1.05 * highest
    step = next(step for step in _STEPS if highest < 6 * step)
    ticks = [(step * at - low) / (high - low) for at in range(int(highest / step) + 1)]

    def path(values: Floats) -> str:
        seen = np.flatnonzero(values >= low)  # a line ends where it leaves the picture
        runs = np.split(seen, np.flatnonzero(np.diff(seen) > 1) + 1)
        return "".join(_line(thresholds[run], (values[run] - low) / (high - low)) for run in runs if len(run))

    side = f"translate(11 {_TOP + _SIDE / 2}) rotate(-90)"
    grid = [f"M{_x(0):g} {_y(t):.1f}H{_x(1):g}" for t in ticks]
    grid += [f"M{_x(t):g} {_y(0):g}V{_y(1):g}" for t in _TICKS]
    parts = [
        element("path", class_="grid", d="".join(grid)),
        *(_text(_x(t), _TOP + _SIDE + 18, f"{t:g}", "middle") for t in _TICKS),
        *(_text(_LEFT - 7, _y(t) + 4, f"{step * at:g}", "end") for at, t in enumerate(ticks)),
        element("path", class_="ideal", d=f"M{_x(0):g} {_y(ticks[0]):.1f}H{_x(1):g}"),
        element("path", class_="every", d=path(every)),
        *(
            element("path", class_="line", d=path(values), stroke_dasharray=_dash(number))
            for number, values in enumerate(curves)
        ),
        _text(_LEFT + _SIDE / 2, down - 4, "threshold of the probability", "middle"),
        element("text", "net benefit per row", x=0, y=0, text_anchor="middle", transform=side),
    ]
    return element(
        "svg", *parts, class_="reliability", viewBox=f"0 0 {across} {down}", role="img", aria_label=label
    )


def histogram(shares: Floats, label: str) -> Markup:
    """Draw shares of rows in equal parts of the scale from 0 to 1; the dotted line is that of equal shares."""
    across, down, equal = _LEFT + _SIDE + 12, _TOP + _SIDE + 40, 1 / len(shares)
    highest = max(2 * equal, 1.05 * float(shares.max()))
    step = next(step for step in _STEPS if highest < 6 * step)
    ticks = [step * at for at in range(int(highest / step) + 1)]
    bars = [
        f"M{_x((at + 0.1) * equal):.1f} {_y(0):g}V{_y(share / highest):.1f}H{_x((at + 0.9) * equal):.1f}V{_y(0):g}Z"
        for at, share in enumerate(shares.tolist())
    ]
    grid = "".join(f"M{_x(0):g} {_y(t / highest):.1f}H{_x(1):g}" for t in ticks)
    parts = [
        element("path", class_="grid", d=grid),
        *(_text(_x(t), _TOP + _SIDE + 18, f"{t:g}", "middle") for t in _TICKS),
        *(_text(_LEFT - 7, _y(t / highest) + 4, f"{t:g}", "end") for t in ticks),
        element("path", class_="bars", d="".join(bars)),
        element("path", class_="ideal", d=f"M{_x(0):g} {_y(equal / highest):.1f}H{_x(1):g}"),
        _text(_LEFT + _SIDE / 2, down - 4, "predicted probability of smaller values", "middle"),
    ]
    return element(
        "svg", *parts, class_="reliability", viewBox=f"0 0 {across} {down}", role="img", aria_label=label
    )


def line_key(number: int | None) -> Markup:
    """Draw the line of a model, or of alerts for every row, for a legend."""
    kind = "every" if number is None else "line"
    dash = None if number is None else _dash(number)
    line = element("path", class_=kind, d="M0 6H30", stroke_dasharray=dash)
    return element("svg", line, class_="key", viewBox="0 0 30 12", aria_hidden="true")


def _dash(number: int) -> str | None:
    return _DASHES[number % len(_DASHES)]


def _thinned(curve: RocCurve, most: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Thin a curve to the points that can be seen; both ends are kept."""
    n = len(curve.threshold)
    kept = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
    return curve.false_positive_rate[kept], curve.true_positive_rate[kept]


def _x(p: float) -> float:
    return _LEFT + p * _SIDE


def _y(p: float) -> float:
    return _TOP + (1 - p) * _SIDE


def _on_scale(curve: ReliabilityCurve, scale: tuple[float, float]) -> ReliabilityCurve:
    """The curve as shares of the scale, clipped to it."""
    begin, end = scale
    predicted, observed, lower, upper = (
        np.clip((column - begin) / (end - begin), 0.0, 1.0)
        for column in (curve.predicted, curve.observed, curve.low, curve.high)
    )
    return ReliabilityCurve(predicted, observed, lower, upper, curve.weight)


def _frame(scale: tuple[float, float], below: float) -> Markup:
    """The square with its ticks, and the diagonal of perfect calibration."""
    grid = [f"M{_x(0):g} {_y(t):g}H{_x(1):g}M{_x(t):g} {_y(0):g}V{_y(1):g}" for t in _TICKS]
    ticks = [(t, f"{scale[0] + t * (scale[1] - scale[0]):.4g}") for t in _TICKS]
    along = [_text(_x(t), below, words, "middle") for t, words in ticks]
    up = [_text(_LEFT - 7, _y(t) + 4, words, "end") for t, words in ticks]
    ideal = element("path", class_="ideal", d=f"M{_x(0):g} {_y(0):g}L{_x(1):g} {_y(1):g}")
    return joined([element("path", class_="grid", d="".join(grid)), ideal, *along, *up])


def _band(curve: ReliabilityCurve) -> Markup:
    if len(curve.predicted) < 2:
        return Markup("")
    there, back = _line(curve.predicted, curve.high), _line(curve.predicted[::-1], curve.low[::-1])
    return element("path", class_="band", d=f"{there}L{back[1:]}Z")


def _line(x: np.ndarray, y: np.ndarray) -> str:
    points = " ".join(f"{_x(a):.1f} {_y(b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    return f"M{points}"


def _columns(curve: ReliabilityCurve) -> list[tuple[float, ...]]:
    columns = (curve.predicted, curve.observed, curve.low, curve.high, curve.weight)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _words(numbers: tuple[float, ...]) -> str:
    predicted, observed, lower, upper = (f"{number:.3f}" for number in numbers[:4])
    return f"predicted {predicted}, seen {observed} ({lower} to {upper}), {numbers[4]:,.0f} rows"


def _point(title_text: str, predicted: float, observed: float, lower: float, upper: float) -> Markup:
    whisker = f"M{_x(predicted):.1f} {_y(lower):.1f}V{_y(upper):.1f}"
    return element(
        "g",
        element("title", title_text),
        element("path", class_="whisker", d=whisker),
        element("circle", cx=f"{_x(predicted):.1f}", cy=f"{_y(observed):.1f}", r=3.5),
    )


def _strip(curve: ReliabilityCurve) -> Markup:
    """One bar per bin, with its number of rows as height."""
    bottom, most = _TOP + _SIDE + _STRIP + 14, curve.weight.max()
    bars = []
    for predicted, _, _, _, weight in _columns(curve):
        height = max(weight / most * (_STRIP - 4), 1)
        bars.append(f"M{_x(predicted):.1f} {bottom:g}v{-height:.1f}")
    return element("path", class_="mass", d="".join(bars))


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return element("text", words, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)
