"""What changes among stored statements when some of them lose evidence, or what had ended them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from app.domain.chains import Ending, Link, ended_at, endings
from app.domain.ids import StatementId
from app.domain.statements import Known, link_of
from app.domain.wording import take_apart


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to be written, in this order: `freed` hold again, `ended` end, of `twins` the first takes in the second.

    Twins say the same; what was said in between kept them apart.
    """

    freed: tuple[StatementId, ...]
    ended: tuple[Ending, ...]
    twins: tuple[tuple[StatementId, StatementId], ...]


def revise(known: Sequence[Known], changed: Set[StatementId]) -> Revision:
    """Which statements hold again because what ended them was not said later after all, and what ends or joins now.

    Args:
        known: the changed statements with those of their topics, those that they ended and those that ended them.
        changed: statements that lost evidence or what had ended them.
    """
    links = {one.id: link_of(one) for one in known}
    essences = {one.id: take_apart(one.text, one.occurred_at).essence for one in known}
    freed: list[StatementId] = []
    ended: list[Ending] = []
    ended_by_twin: dict[StatementId, StatementId] = {}
    for id_, link in links.items():
        heir = _heir(link, links)
        if heir is None or changed.isdisjoint((id_, heir)):
            continue
        same = essences[id_] == essences[heir] and not links[heir].fixed
        at = ended_at(link, links[heir])
        if same:
            ended_by_twin[heir] = id_
        if same or links[heir].order <= link.order:
            link.superseded_by = link.valid_to = None
            freed.append(id_)
        elif link.valid_to != at:
            link.valid_to = at
            ended.append(Ending(id_, heir, at))
    ended += endings(list(links.values()))
    over = {ending.ref for ending in ended}
    current = [one for one in known if links[one.id].superseded_by is None and one.id not in over]
    twins = _twins(current, essences, changed) | ended_by_twin
    first_said = sorted(twins, key=lambda twin: (links[twin].first, twin))
    return Revision(tuple(freed), tuple(ended), tuple((_first(twin, twins), twin) for twin in first_said))


def _heir(link: Link, links: Mapping[StatementId, Link]) -> StatementId | None:
    """What ended it, by being said later: none if that is the user's correction of it."""
    by = link.superseded_by
    if by is None or isinstance(by, int) or by not in links:
        return None
    return None if links[by].fixed and link.valid_to == link.first else by


def _twins(
    current: Sequence[Known], essences: Mapping[StatementId, str], changed: Set[StatementId]
) -> dict[StatementId, StatementId]:
    """What says the same as another of which one changed; that is the user's own version or was said first."""
    saying: dict[str, list[StatementId]] = defaultdict(list)
    for one in sorted(current, key=lambda one: (not one.fixed, one.occurred_at, one.id)):
        saying[essences[one.id]].append(one.id)
    return {other: same[0] for same in saying.values() if not changed.isdisjoint(same) for other in same[1:]}


def _first(twin: StatementId, twins: Mapping[StatementId, StatementId]) -> StatementId:
    while twin in twins:
        twin = twins[twin]
    return twin
