"""A report's sections as Markdown: tables without charts. Pure."""

import html
import re
from collections.abc import Sequence

from app.evaluation.reporting.parts import Cell, Section, Table

SPECIAL = re.compile(r"([\\`*_\[\]|])")


def document(title: str, sections: Sequence[Section]) -> str:
    """The whole, one heading a section."""
    return "\n".join([f"# {escaped(title)}", *(line for section in sections for line in _section(section))])


def table(one: Table) -> list[str]:
    """Its lines."""
    heads = [escaped(head) for head in one.heads]
    align = [":--", *("--:" for _ in heads[1:])]
    return [_row(heads), _row(align), *(_row([_cell(cell) for cell in row]) for row in one.rows)]


def escaped(text: str) -> str:
    """Text that Markdown and HTML take as it stands, in one line."""
    return SPECIAL.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _section(section: Section) -> list[str]:
    lines = ["", f"## {escaped(section.title)}", ""]
    for warning in section.warnings:
        lines += [f"> **Note.** {escaped(warning)}", ""]
    for note in section.notes:
        lines += [escaped(note), ""]
    for one in section.tables:
        lines += [*table(one), "", escaped(one.caption), ""]
    return lines


def _cell(cell: Cell) -> str:
    return escaped(f"{cell.text} ({cell.interval})" if cell.interval else cell.text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
