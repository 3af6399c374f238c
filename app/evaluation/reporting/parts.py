"""What a report is made of, the same for the page and for Markdown: sections with tables, charts and notes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.evaluation.intervals import Interval

UNBOUND = 0  # the budget of a strategy that takes everything
NOTHING = "–"  # in a cell for which nothing was measured
LONG = 24  # letters: longer texts are set in lines


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text, and its interval if it has one."""

    text: str
    interval: str = ""

    @property
    def is_long(self) -> bool:
        """Whether it is a sentence rather than a figure or a name."""
        return len(self.text) > LONG


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under heads, the first of each a name; `caption` explains every head."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def is_text(self, column: int) -> bool:
        """Whether a column holds names or sentences rather than figures."""
        return column == 0 or any(row[column].is_long for row in self.rows)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report. `anchor` names it in links; `notes` are sentences, `charts` HTML that is safe as it stands.

    `warnings` must be read before the figures.
    """

    anchor: str
    title: str
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    charts: Sequence[str] = ()
    tables: Sequence[Table] = ()


def words(*texts: object) -> list[Cell]:
    """Cells of plain text."""
    return [Cell(str(text)) for text in texts]


def share(value: float) -> str:
    """`.825`, `1.000`, `-.040`; never `-.000`."""
    text = f"{round(value, 3) + 0:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def signed(value: float) -> str:
    """`+.040`, `-.040`, `.000`."""
    return f"+{share(value)}" if round(value, 3) > 0 else share(value)


def interval(value: Interval | None) -> Cell:
    """A share in 0–1 with its interval."""
    return Cell(NOTHING) if value is None else Cell(share(value.value), f"{share(value.low)}–{share(value.high)}")


def optional(value: float | None) -> Cell:
    """A share in 0–1."""
    return Cell(NOTHING) if value is None else Cell(share(value))


def whole(value: float | None) -> Cell:
    """A count or milliseconds, with commas."""
    return Cell(NOTHING) if value is None else Cell(f"{value:,.0f}")


def change(value: Interval) -> Cell:
    """A difference of shares with its interval."""
    return Cell(signed(value.value), f"{signed(value.low)}, {signed(value.high)}")


def p_value(p: float) -> str:
    """`.031`, `<.001`."""
    return "<.001" if p < 0.0005 else share(p)


def bound(budget: int) -> str:
    """`1,000 tokens`, `no budget`."""
    return "no budget" if budget == UNBOUND else f"{budget:,} tokens"
