"""Labels against statements: which decisions were right."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.dialogues.loading import Dialogue, Fact, day
from tests.dialogues.matching import Row, match, options
from tests.dialogues.spans import Span

DECISIONS = ("new", "reinforces", "updates", "refused")
DETAILS = ("dates", "kinds", "support")  # of facts that were found


@dataclass(slots=True)
class Tally:
    """Decisions that are right, those taken that are wrong, and those that were not taken."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the decisions taken that are right; None if none was taken."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Share of the decisions wanted that were taken; None if none was wanted."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    def add(self, other: "Tally") -> None:
        """Count the other's as well."""
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed


def total(tallies: Iterable[Tally]) -> Tally:
    """All of them as one."""
    summed = Tally()
    for tally in tallies:
        summed.add(tally)
    return summed


@dataclass(slots=True)
class Score:
    """How a dialogue went. `faults` say what is wrong, each with its kind of decision."""

    dialogue: Dialogue
    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    faults: list[str] = field(default_factory=list)

    @property
    def is_right(self) -> bool:
        """Whether every decision is; dates, kinds and support aside."""
        return not any(self.tallies[kind].wrong or self.tallies[kind].missed for kind in DECISIONS)

    def right(self, kind: str, count: int = 1) -> None:
        """Count what is right."""
        self.tallies[kind].right += count

    def wrong(self, kind: str, fault: str) -> None:
        """Count a decision that should not have been taken."""
        self.tallies[kind].wrong += 1
        self.faults.append(f"{kind}: {fault}")

    def missed(self, kind: str, fault: str) -> None:
        """Count a decision that should have been taken."""
        self.tallies[kind].missed += 1
        self.faults.append(f"{kind}: {fault}")


def score(dialogue: Dialogue, rows: Sequence[Row]) -> Score:
    """Compare a dialogue's labels with all its statements, superseded ones too."""
    made = Score(dialogue)
    found = match(dialogue, rows)
    _score_new(made, rows, found)
    _score_reinforces(made, found)
    _score_updates(made, rows, found)
    _score_refused(made, rows)
    for name, row in found.items():
        _score_details(made, name, row)
        _score_end(made, name, row, found)
    return made


# Decisions -------------------------------------------------------------------------------------------------


def _score_new(made: Score, rows: Sequence[Row], found: Mapping[str, Row]) -> None:
    dialogue = made.dialogue
    made.right("new", len(found))
    for name in dialogue.facts.keys() - found.keys():
        made.missed("new", f"no statement says {name}")
    used = {row.id for row in found.values()}
    free, silent = set(dialogue.maybe), dialogue.silent
    for row in rows:
        if row.id in used:
            continue
        again = [name for name, fact in dialogue.facts.items() if row in options(dialogue, fact, [row])]
        if again:
            made.wrong("new", f"{again[0]} a second time: {_shown(row)}")
        elif row.cites & silent or not row.cites & free:
            made.wrong("new", f"unexpected: {_shown(row)}")


def _score_reinforces(made: Score, found: Mapping[str, Row]) -> None:
    facts = made.dialogue.facts
    for name, fact in facts.items():
        row = found.get(name)
        cited = len(row.cites & set(fact.cites)) if row else 1
        made.right("reinforces", cited - 1)
        for _ in range(len(fact.cites) - cited):
            made.missed("reinforces", f"{name} rests on {sorted(row.cites) if row else 'nothing'}")
    allowed: dict[str, set[int]] = defaultdict(set)
    for name, row in found.items():
        allowed[row.id] |= {*facts[name].cites, *facts[name].beside}
    for row in {row.id: row for row in found.values()}.values():
        for number in sorted(row.cites - allowed[row.id]):
            made.wrong("reinforces", f"message {number} is cited by {_shown(row)}")


def _score_updates(made: Score, rows: Sequence[Row], found: Mapping[str, Row]) -> None:
    facts, texts = made.dialogue.facts, {row.id: row for row in rows}
    for name, fact in facts.items():
        row = found.get(name)
        given = row.superseded_by if row else None
        heirs = {found[heir].id for heir in _heirs(facts, name) if heir in found}
        if given is not None and given in heirs:
            made.right("updates", int(fact.superseded_by is not None))
            continue
        if fact.superseded_by is not None:
            made.missed("updates", f"{name} is not superseded by {fact.superseded_by}")
        if row is not None and given is not None:
            by = texts.get(given)
            made.wrong("updates", f"{_shown(row)} is superseded by {_shown(by) if by else given}")


def _heirs(facts: Mapping[str, Fact], name: str) -> Iterator[str]:
    """The fact that supersedes this one, the one that supersedes that one, and so on."""
    seen = {name}
    heir = facts[name].superseded_by or facts[name].may_be_superseded_by
    while heir is not None and heir not in seen:
        seen.add(heir)
        yield heir
        heir = facts[heir].superseded_by or facts[heir].may_be_superseded_by


def _score_refused(made: Score, rows: Sequence[Row]) -> None:
    cited = {number for row in rows for number in row.cites}
    for reason, numbers in made.dialogue.nothing.items():
        for number in numbers:
            if number in cited:
                made.missed("refused", f"message {number} ({reason}) is cited")
            else:
                made.right("refused")
    for number in sorted({fact.cites[0] for fact in made.dialogue.facts.values()} - cited):
        made.wrong("refused", f"message {number} gave nothing")


# Details of facts that were found --------------------------------------------------------------------------


def _score_details(made: Score, name: str, row: Row) -> None:
    fact = made.dialogue.facts[name]
    if fact.when is not None and not (fact.spans and row.valid_from is None and row.valid_to is None):
        if any(_dated(row, span) for span in fact.spans) or (not fact.spans and _undated(row)):
            made.right("dates")
        else:
            made.wrong("dates", f"{name} is {fact.when}, not {day(row.valid_from)}/{day(row.valid_to)}")
    elif fact.when is not None:
        made.missed("dates", f"{name} is {fact.when}")
    if fact.kind is not None:
        if fact.kind == row.kind:
            made.right("kinds")
        else:
            made.wrong("kinds", f"{name} is {fact.kind}, not {row.kind}")
    if len(fact.cites) > 1:
        if len(fact.cites) <= row.support <= len(fact.cites) + len(fact.beside):
            made.right("support")
        else:
            made.wrong("support", f"{name} has {len(fact.cites)}, not {row.support}")


def _dated(row: Row, span: Span) -> bool:
    """Whether the statement holds at the right time. The end of a superseded one is its successor's affair."""
    end = day(row.valid_to)
    if span.start is not None and day(row.valid_from) != span.start:
        return False
    if row.superseded_by is not None:
        return True
    if span.start is None:
        return end is not None and span.ends(end)
    return end is None or (span.ends(end) and not span.still_holds)


def _undated(row: Row) -> bool:
    """Whether the statement names no time; that it holds from when it was said is no time."""
    return row.valid_from is None or day(row.valid_from) == day(row.occurred_at)


def _score_end(made: Score, name: str, row: Row, found: Mapping[str, Row]) -> None:
    """What was superseded rightly ends when its successor begins: on the day that names or was said."""
    heirs = [found[heir] for heir in _heirs(made.dialogue.facts, name) if heir in found]
    heir = next((heir for heir in heirs if heir.id == row.superseded_by), None)
    if heir is None:
        return
    fitting = {day(moment) for one in heirs for moment in (one.occurred_at, one.valid_from)}
    fitting |= {span.start for one in _heirs(made.dialogue.facts, name) for span in made.dialogue.facts[one].spans}
    if row.valid_to is None:
        made.missed("dates", f"{name} has no end")
    elif day(row.valid_to) in fitting:
        made.right("dates")
    else:
        made.wrong("dates", f"{name} ends on {day(row.valid_to)}")


def _shown(row: Row) -> str:
    return f"«{row.text[:160]}» {sorted(row.cites)}"
