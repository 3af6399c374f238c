"""One deliberate break of the service, and the tests that must notice it."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Break:
    """One mistake: in the file `path` each `old` text, found exactly once, becomes `new`.

    Every one of `tests` (file::name below tests/, any of its cases) must then be red.
    """

    name: str
    path: str
    edits: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]

    def applied(self, root: Path = ROOT) -> str:
        """The file's text with the mistake in it. Raises ValueError if the file has changed too much."""
        text = (root / self.path).read_text(encoding="utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise ValueError(f"{self.name}: {self.path} has {text.count(old)} times, not once:\n{old}")
            text = text.replace(old, new)
        return text


def one(name: str, path: str, old: str, new: str, *tests: str) -> Break:
    """A break by one edit."""
    return Break(name, path, ((old, new),), tests)
