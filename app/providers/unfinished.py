"""A string of a JSON object that is still being written: what a reader may be shown of it already."""

import json
import re

from app.domain.text import clean

_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>")
_INSIDE = r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*'  # as far as it is whole: no half of an escape
_HIGH = re.compile(r"[\ud800-\udbff]\Z")  # the first half of a character that is written as two escapes


def string_so_far(text: str, key: str) -> str:
    """The value of `key` in a reply that may end anywhere; empty before it begins, and where it is no string.

    Thoughts before the object are passed over. What it gives is provisional: the whole reply may be read otherwise.
    """
    marks = list(_THINKING.finditer(text))
    if marks and not marks[-1][1]:
        return ""  # it is still thinking
    begun = re.compile(rf'"{re.escape(key)}"\s*:\s*"({_INSIDE})').search(text, marks[-1].end() if marks else 0)
    if begun is None:
        return ""
    found: str = json.loads(f'"{begun[1]}"', strict=False)
    return clean(_HIGH.sub("", found))
