"""What a report is made of, the same for the page and for Markdown: sections with tables, charts and notes. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

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

    def kind(self, column: int) -> Literal["prose", "name", "figure"]:
        """What a column holds: sentences, which are set in lines, names, or figures."""
        filled = [row[column] for row in self.rows if row[column].text]
        if any(cell.is_long for cell in filled):
            return "prose"
        named = bool(filled) and all(cell.text[0].isalpha() for cell in filled)
        return "name" if named or column == 0 else "figure"


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


def number(value: float) -> str:
    """`1,234`, `-40`; never `-0`."""
    return f"{round(value) + 0:,}"


def signed(value: float, shown: Callable[[float], str] = share) -> str:
    """`+.040`, `-.040`, `.000`."""
    return f"+{shown(value)}" if value > 0 and shown(value) != shown(0.0) else shown(value)


def interval(value: Interval | None) -> Cell:
    """A share in 0–1 with its interval."""
    return Cell(NOTHING) if value is None else Cell(share(value.value), f"{share(value.low)}–{share(value.high)}")


def counted(value: Interval | None) -> Cell:
    """Tokens on average, with their interval."""
    return Cell(NOTHING) if value is None else Cell(number(value.value), f"{number(value.low)}–{number(value.high)}")


def optional(value: float | None) -> Cell:
    """A share in 0–1."""
    return Cell(NOTHING) if value is None else Cell(share(value))


def whole(value: float | None) -> Cell:
    """A count or milliseconds, with commas."""
    return Cell(NOTHING) if value is None else Cell(number(value))


def change(value: Interval, shown: Callable[[float], str] = share) -> Cell:
    """A difference with its interval: of shares, or of what `shown` shows."""
    return Cell(signed(value.value, shown), f"{signed(value.low, shown)}, {signed(value.high, shown)}")


def p_value(p: float) -> str:
    """`.031`, `<.001`."""
    return "<.001" if p < 0.0005 else share(p)


def bound(budget: int) -> str:
    """`1,000 tokens`, `no budget`."""
    return "no budget" if budget == UNBOUND else f"{budget:,} tokens"
