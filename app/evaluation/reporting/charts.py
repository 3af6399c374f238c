"""Charts as SVG inside HTML: plain shapes with classes that the page's style sheet colours; no scripts. Pure.

Every series has a colour and a shape of its own, so that a chart can also be read without colours.
"""

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from app.evaluation.intervals import Interval
from app.evaluation.reporting.parts import share

WIDTH, HEIGHT = 720.0, 360.0  # user units; the page scales them
LEFT, RIGHT, TOP, BOTTOM = 60.0, 14.0, 12.0, 62.0  # margins, with room for labels of up to three lines
COLOURS, SHAPES = 8, 4  # that the style sheet and `_marker` have; more series begin again, dashed
LETTER = 7.2  # width of a letter at the style sheet's size, on average
LINE = 15.0  # height of a line of text
DODGE = 4.0  # between the marks of two series at one place, so that their whiskers are not one
GAP = 0.22  # of a group of bars is left free
WIDEST = 40.0  # a bar
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)  # between two lines of the grid
MOST_STEPS = 8

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Point:
    """A place of a line, with its interval if it has one; `note` shows under the pointer."""

    x: float
    y: float
    note: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A series of points by rising x. `marked` shows each of them, else only the last."""

    label: str
    points: Sequence[Point]
    marked: bool = True


@dataclass(frozen=True, slots=True)
class Bars:
    """A series with one value for each group, None where nothing was measured."""

    label: str
    values: Sequence[Interval | None]


@dataclass(frozen=True, slots=True)
class Axes:
    """What a chart shows; values of y lie in 0–1. `ticks` of x are places with a label; `even` puts them evenly."""

    caption: str
    x: str
    y: str
    ticks: Sequence[float] = ()
    even: bool = False


def line_chart(axes: Axes, lines: Sequence[Line]) -> str:
    """Lines with whiskers, as an HTML figure. The y axis shows the part in which there are values."""
    figure, svg = _figure(axes)
    bounds = [value for line in lines for point in line.points for value in (point.y, point.low, point.high)]
    y = _y_axis(svg, axes, [value for value in bounds if value is not None])
    x = _x_axis(svg, axes)
    for index, line in enumerate(lines):
        shift = (index - (len(lines) - 1) / 2) * DODGE if line.marked else 0.0
        group = SubElement(svg, "g", {"class": _classes(index)})
        places = [(x(point.x) + shift, y(point.y)) for point in line.points]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in places)
        SubElement(group, "polyline", {"class": "line", "points": path})
        for point, (across, down) in zip(line.points, places, strict=True):
            if point.low is not None and point.high is not None:
                _stroke(group, "whisker", (across, y(point.low)), (across, y(point.high)))
            if line.marked or point is line.points[-1]:
                _note(_marker(group, index, across, down), f"{line.label}: {point.note}")
    _legend(figure, [line.label for line in lines], lined=True)
    return _html(figure)


def bar_chart(axes: Axes, groups: Sequence[str], series: Sequence[Bars]) -> str:
    """Groups of bars with whiskers, as an HTML figure. The y axis begins at 0."""
    figure, svg = _figure(axes)
    highs = [value.high for bars in series for value in bars.values if value is not None]
    y = _y_axis(svg, axes, [0.0, *highs])
    room = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    width = min(room * (1 - GAP) / max(len(series), 1), WIDEST)
    for number, name in enumerate(groups):
        middle = LEFT + room * (number + 0.5)
        _label(svg, name, middle, room)
        for index, bars in enumerate(series):
            value = bars.values[number]
            if value is not None:
                left = middle + width * (index - len(series) / 2)
                _bar(svg, index, (left, width, y), (bars.label, value))
    _legend(figure, [bars.label for bars in series], lined=False)
    return _html(figure)


# Parts of a chart ---------------------------------------------------------------------------------------


def _figure(axes: Axes) -> tuple[Element, Element]:
    figure = Element("figure")
    box = SubElement(figure, "div", {"class": "scroll"})
    view = f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"
    svg = SubElement(box, "svg", {"class": "chart", "viewBox": view, "role": "img", "aria-label": axes.caption})
    SubElement(figure, "figcaption").text = axes.caption
    return figure, svg


def _y_axis(svg: Element, axes: Axes, values: Sequence[float]) -> Scale:
    low, high, step = _span(values)

    def scale(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        _stroke(svg, "grid", (LEFT, scale(value)), (WIDTH - RIGHT, scale(value)))
        _text(svg, f"{value:.2f}", (LEFT - 8, scale(value) + 4), anchor="end")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = {"transform": f"rotate(-90 14 {middle:.1f})"}
    _text(svg, axes.y, (14, middle), extra=turned)
    return scale


def _span(values: Sequence[float]) -> tuple[float, float, float]:
    """Where an axis begins and ends so that all values stand between, and its step."""
    lowest, highest = min(values, default=0.0), max(values, default=1.0)
    step = next((step for step in STEPS if (highest - lowest) / step <= MOST_STEPS - 1), STEPS[-1])
    low, high = math.floor(lowest / step + 1e-9) * step, math.ceil(highest / step - 1e-9) * step
    return low, high if high > low else low + step, step


def _x_axis(svg: Element, axes: Axes) -> Scale:
    """`even` ticks stand at equal distances, and only they have a place; else 0–1 is the whole width."""
    right = WIDTH - RIGHT

    def scale(value: float) -> float:
        if not axes.even:
            return LEFT + value * (right - LEFT)
        return LEFT + (axes.ticks.index(value) + 0.5) / len(axes.ticks) * (right - LEFT)

    for tick in axes.ticks:
        _text(svg, f"{tick:g}", (scale(tick), HEIGHT - BOTTOM + LINE + 4))
    _text(svg, axes.x, ((LEFT + right) / 2, HEIGHT - BOTTOM + 3 * LINE))
    return scale


def _bar(svg: Element, index: int, place: tuple[float, float, Scale], bar: tuple[str, Interval]) -> None:
    (left, width, y), (label, value) = place, bar
    group = SubElement(svg, "g", {"class": _classes(index)})
    top, middle = y(value.value), left + width / 2
    sizes = {"x": left + 1, "y": top, "width": max(width - 2, 1), "height": max(y(0.0) - top, 0)}
    shape = SubElement(group, "rect", {"class": "bar", **{name: f"{size:.1f}" for name, size in sizes.items()}})
    _note(shape, f"{label}: {share(value.value)} [{share(value.low)}, {share(value.high)}], {value.count} questions")
    _stroke(group, "whisker over", (middle, y(value.low)), (middle, y(value.high)))


def _label(svg: Element, text: str, middle: float, room: float) -> None:
    """A label under the axis, in as many lines as it needs."""
    for number, line in enumerate(textwrap.wrap(text, max(int(room / LETTER), 4))):
        _text(svg, line, (middle, HEIGHT - BOTTOM + LINE * (number + 1) + 4))


def _marker(parent: Element, index: int, x: float, y: float) -> Element:
    """A circle, square, triangle or diamond of about equal size."""
    corners = (
        None,
        ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        ((0, -5.5), (5, 4), (-5, 4)),
        ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
    )[index % SHAPES]
    if corners is None:
        return SubElement(parent, "circle", {"class": "mark", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "4.5"})
    points = " ".join(f"{x + across:.1f},{y + down:.1f}" for across, down in corners)
    return SubElement(parent, "polygon", {"class": "mark", "points": points})


def _legend(figure: Element, labels: Sequence[str], *, lined: bool) -> None:
    legend = Element("ul", {"class": "legend"})
    for index, label in enumerate(labels):
        entry = SubElement(legend, "li", {"class": _classes(index)})
        swatch = SubElement(
            entry, "svg", {"viewBox": "0 0 28 14", "width": "28", "height": "14", "aria-hidden": "true"}
        )
        if lined:
            _stroke(swatch, "line", (0, 7), (28, 7))
            _marker(swatch, index, 14, 7)
        else:
            SubElement(swatch, "rect", {"class": "bar", "x": "7", "y": "0", "width": "14", "height": "14"})
        SubElement(entry, "span").text = label
    figure.insert(1, legend)


def _classes(index: int) -> str:
    return f"c{index % COLOURS}" + (" again" if index >= COLOURS else "")


def _stroke(parent: Element, name: str, begin: tuple[float, float], end: tuple[float, float]) -> None:
    places = {"x1": begin[0], "y1": begin[1], "x2": end[0], "y2": end[1]}
    SubElement(parent, "line", {"class": name, **{key: f"{value:.1f}" for key, value in places.items()}})


def _text(
    parent: Element, text: str, place: tuple[float, float], anchor: str = "middle", extra: dict[str, str] | None = None
) -> None:
    attributes = {"x": f"{place[0]:.1f}", "y": f"{place[1]:.1f}", "text-anchor": anchor, **(extra or {})}
    SubElement(parent, "text", attributes).text = text


def _note(shape: Element, text: str) -> None:
    SubElement(shape, "title").text = text


def _html(figure: Element) -> str:
    return tostring(figure, encoding="unicode", method="html")
