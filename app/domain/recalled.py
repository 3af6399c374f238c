"""What the service handed out and somebody pasted into a message: recognised by its form, so that it is not noted anew.

Context begins with the heading of a day, and each of its lines with a speaker or a title (`packing.render_context`).
"""

import re

from app.domain.packing import DAYS, MONTHS

_HEADING = re.compile(rf"(?P<lead>(?:.*[:：]\s*)?)(?:{'|'.join(DAYS)}), \d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}\s*")
_LINE = re.compile(r"\s*(?:\[[^\]]+\]\s|[^:\n]{1,80}: )\S")
_TAG = re.compile(
    r"\s*</?[a-z_-]*(?:memory|memories|context|recall|recalled|evidence|history)[a-z_-]*>\s*", re.IGNORECASE
)
_ANNOUNCING = re.compile(r".*[:：]\s*")


def own_words(content: str) -> str:
    """A message without the context in it, the tags around that and the line that announces it."""
    lines = content.split("\n")
    kept: list[str] = []
    place, removed = 0, False
    while place < len(lines):
        end = _block_end(lines, place)
        if end == place:
            kept.append(lines[place])
            place += 1
            continue
        if kept and _ANNOUNCING.fullmatch(kept[-1]):
            kept.pop()
        place, removed = end, True
    if removed:
        kept = [line for line in kept if not _TAG.fullmatch(line)]
    return "\n".join(kept).strip() if removed else content


def _block_end(lines: list[str], start: int) -> int:
    """Where the context ends that begins in this line; the line itself if none does."""
    if not _HEADING.fullmatch(lines[start]):
        return start
    end = start + 1
    while end < len(lines) and (_HEADING.fullmatch(lines[end]) or _LINE.match(lines[end])):
        end += 1
    return end if end > start + 1 else start
