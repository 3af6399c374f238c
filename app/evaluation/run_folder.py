"""Reads what `xmemory eval run` wrote. A measurement that is absent was not made; it is never taken for 0."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.evaluation.errors import ToolError

MANIFEST, RESULTS, QUESTIONS, TRACES = "manifest.json", "results.jsonl", "questions.jsonl", "traces.jsonl"

Key = tuple[str, int]  # conversation, and the question's number in it


class Part(BaseModel):
    """A part of a run folder. Unknown fields are ignored: a newer version may have more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Used(Part):
    """What was used of a model at one stage."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    texts: int = 0  # that got a vector

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.tokens_in + self.tokens_out


class Asked(Part):
    """A question, one way to ask it, and how it went. `question` counts from 1 in its conversation.

    `budget` in tokens, 0 without a bound; `error` says why nothing was measured.
    """

    conversation: str
    question: int
    category: str
    answerable: bool
    strategy: str
    budget: int
    milliseconds: float = 0.0
    error: str | None = None

    @property
    def key(self) -> Key:
        """The question, whichever way it was asked."""
        return self.conversation, self.question


class Measured(Asked):
    """A request to the service. `scores` by name of the metric, None where it does not apply."""

    scores: dict[str, float | None] = {}
    tokens: int = 0


class Searched(Measured):
    """A search. Tokens and items are counted best first, None where all of them were not enough."""

    kind: Literal["search"] = "search"
    items: int = 0
    tokens_to_evidence: int | None = None
    blocks_to_cover: int | None = None
    tokens_to_cover: int | None = None
    measure: str = ""
    probes: int = 0

    @property
    def tokens_needed(self) -> int:
        """Until all evidence was in; where it never was, all that might be handed out, which is less than it takes."""
        return self.tokens_to_evidence if self.tokens_to_evidence is not None else self.budget or self.tokens


class Answered(Measured):
    """An answer, or an abstention with its reason. `usage` by stage."""

    kind: Literal["answer"] = "answer"
    answer: str | None = None
    abstained: bool = False
    reason: str | None = None
    confidence: float = 0.0
    cited: int = 0
    usage: dict[str, Used] = {}


class Judged(Asked):
    """What a judge said of an answer, or of a vague answer made up as a control; None if it said neither."""

    kind: Literal["verdict"] = "verdict"
    subject: Literal["answer", "vague"]
    correct: bool | None = None


Row = Annotated[Searched | Answered | Judged, Field(discriminator="kind")]


class Evidence(Part):
    """A message that carries the answer."""

    id: str
    text: str = ""


class Question(Part):
    """A question as the data has it; `expected` is None for one that has no answer."""

    conversation: str
    question: int
    category: str
    answerable: bool
    asked: bool = True
    text: str
    expected: str | None = None
    evidence: list[Evidence] = []


class Item(Part):
    """A piece of evidence that was handed out."""

    level: str
    score: float
    tokens: int
    text: str
    messages: list[str] = []


class Traced(Part):
    """A search that went badly, made again with `explain`."""

    conversation: str
    question: int
    category: str
    strategy: str
    budget: int
    text: str
    expected: str | None = None
    recall: float
    evidence: list[str] = []
    missing: list[str] = []
    items: list[Item] = []
    trace: dict[str, Any] = {}


class Flaw(Part):
    """Something wrong with the data."""

    place: str
    kind: str
    detail: str = ""


class Start(Part):
    """A run may be started several times, with one version of the code or with several."""

    at: str
    commit: str | None = None
    dirty: bool = False


class Manifest(Part):
    """How a run was made."""

    state: str
    configuration: dict[str, Any]
    service: dict[str, Any] = {}
    starts: list[Start] = []
    seconds: float | None = None
    machine: dict[str, Any] = {}
    stored: dict[str, dict[str, Any]] = {}
    ingest: dict[str, dict[str, Any]] = {}
    questions: dict[str, int] = {}
    flaws: list[Flaw] = []


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run. `document` is its manifest as it stands in the file."""

    path: Path
    manifest: Manifest
    document: Mapping[str, Any]
    searched: tuple[Searched, ...]
    answered: tuple[Answered, ...]
    judged: tuple[Judged, ...]
    questions: Mapping[Key, Question]
    traces: tuple[Traced, ...]

    @property
    def name(self) -> str:
        """How it is called in tables: its folder."""
        return self.path.resolve().name

    @property
    def rows(self) -> tuple[Searched | Answered | Judged, ...]:
        """All requests."""
        return *self.searched, *self.answered, *self.judged


ReadT = TypeVar("ReadT")
ROW: TypeAdapter[Searched | Answered | Judged] = TypeAdapter(Row)


def load(path: Path) -> RunFolder:
    """Read a run. Blocking. Raises ToolError, which names the file and the line, for what is no run folder."""
    document = _document(path / MANIFEST)
    rows = sorted(_lines(path / RESULTS, ROW), key=lambda row: (row.budget, row.key))
    questions = _lines(path / QUESTIONS, TypeAdapter(Question)) if (path / QUESTIONS).exists() else ()
    traces = _lines(path / TRACES, TypeAdapter(Traced)) if (path / TRACES).exists() else ()
    return RunFolder(
        path=path,
        manifest=_read(TypeAdapter(Manifest), document, str(path / MANIFEST)),
        document=document,
        searched=tuple(row for row in rows if isinstance(row, Searched)),
        answered=tuple(row for row in rows if isinstance(row, Answered)),
        judged=tuple(row for row in rows if isinstance(row, Judged)),
        questions={(question.conversation, question.question): question for question in questions},
        traces=tuple(traces),
    )


def _document(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(_text(file))
    except ValueError as error:
        raise ToolError(f"{file} holds no JSON: {error}") from error
    if not isinstance(document, dict):
        raise ToolError(f"{file} holds no JSON object")
    return document


def _lines(file: Path, kind: TypeAdapter[ReadT]) -> Iterator[ReadT]:
    """The lines of a file. An unfinished last line, as a killed run may leave it, is left out."""
    for number, line in enumerate(_text(file).split("\n")[:-1], start=1):
        try:
            document = json.loads(line)
        except ValueError as error:
            raise ToolError(f"{file}, line {number}: no JSON: {error}") from error
        yield _read(kind, document, f"{file}, line {number}")


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ToolError(f"{file.parent} is no folder of `xmemory eval run`: it has no {file.name}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{file} cannot be read: {error}") from error


def _read(kind: TypeAdapter[ReadT], document: object, place: str) -> ReadT:
    try:
        return kind.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ToolError(f"{place}: {where}: {first['msg']}") from error
