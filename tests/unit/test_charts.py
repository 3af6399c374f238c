"""Charts: where things stand, by hand, and what happens with many of them."""

from xml.etree import ElementTree

from app.evaluation.intervals import Interval
from app.evaluation.reporting.charts import Axes, Bars, Line, Point, bar_chart, line_chart

BUDGETS = Axes("Recall & budget", "tokens", "recall", (250, 500), even=True)


def drawn(figure: str) -> ElementTree.Element:
    return ElementTree.fromstring(figure)


def test_points_stand_where_their_values_are() -> None:
    points = [Point(250, 0.5, "first", 0.4, 0.6), Point(500, 0.8, "second")]
    figure = drawn(line_chart(BUDGETS, [Line("one", points)]))
    # y goes from .4 to .8, over 286 units that end at 298; x: the middles of the halves of 60 to 706.
    polyline = figure.find(".//polyline")
    assert polyline is not None
    assert polyline.get("points") == "221.5,226.5 544.5,12.0"
    whisker = figure.find(".//line[@class='whisker']")
    assert whisker is not None
    assert (whisker.get("y1"), whisker.get("y2")) == ("298.0", "155.0")
    assert [title.text for title in figure.iter("title")] == ["one: first", "one: second"]
    assert [text.text for text in figure.iter("text")][:2] == ["0.40", "0.50"]
    svg, caption = figure.find(".//svg"), figure.find("figcaption")
    assert svg is not None
    assert caption is not None
    assert svg.get("aria-label") == caption.text == "Recall & budget"


def test_bars_begin_at_nothing_and_leave_out_what_was_not_measured() -> None:
    series = [Bars("one", [Interval(0.25, 0.2, 0.5, 8), None]), Bars("two", [None, Interval(0.0, 0.0, 0.0, 1)])]
    figure = drawn(bar_chart(Axes("c", "", "y"), ["single-session-assistant", "b"], series))
    first, second = figure.findall(".//g/rect")
    assert (first.get("y"), first.get("height")) == ("155.0", "143.0")  # half of an axis that goes to .5
    assert second.get("height") == "0.0"
    assert first.findtext("title") == "one: .250 [.200, .500], 8 questions"
    assert [entry.findtext("span") for entry in figure.iter("li")] == ["one", "two"]


def test_long_names_are_set_in_lines_and_many_series_are_told_apart() -> None:
    names = ["single-session-assistant", *map(str, range(7))]
    figure = drawn(bar_chart(Axes("c", "", "y"), names, [Bars("one", [Interval(1.0, 1.0, 1.0, 1)] * 8)]))
    texts = [text.text for text in figure.iter("text")]
    assert "single-" in texts
    assert "assistant" in texts
    lines = [Line(str(number), [Point(250, 0.5, "")]) for number in range(10)]
    classes = [entry.get("class") for entry in drawn(line_chart(BUDGETS, lines)).iter("li")]
    assert len(set(classes)) == 10
    assert classes[8:] == ["c0 again", "c1 again"]


def test_nothing_to_draw_is_an_empty_chart() -> None:
    assert drawn(line_chart(BUDGETS, [])).find(".//polyline") is None
    assert drawn(bar_chart(Axes("c", "", "y"), [], [])).find(".//rect") is None
