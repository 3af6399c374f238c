"""What themes are compared with: other ways to group vectors, and what the data says belongs together."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_mutual_info_score

from app.domain.ids import StatementId
from app.domain.vectors import Matrix, cosine
from tests.benchmarks.theme_data import Event, Told

SEED = 7
EVENT_COSINE = 0.4  # to the nearest event of the same session and speaker, from which a statement counts as of it
MULTI_HOP = "multi-hop"  # category of questions whose answer rests on several messages

Groups = Mapping[StatementId, object]
"""The group of each statement."""


@dataclass(frozen=True)
class Quality:
    """A partition in figures. `together`: how many times as often as by chance two facts of a multi-hop question
    share a group; `tight`: mean cosine between two statements of a group.
    """

    groups: int
    mean: float
    largest: int
    single: int
    tight: float
    of_sessions: float
    of_events: float
    together: float


def k_means(vectors: Matrix, groups: int) -> list[int]:
    """As many groups as are asked for."""
    found = KMeans(groups, n_init=4, random_state=SEED).fit_predict(vectors)
    return [int(label) for label in found]


def hdbscan(vectors: Matrix) -> list[int]:
    """Dense groups of two or more; each statement that is noise is a group of its own."""
    found = HDBSCAN(min_cluster_size=2, min_samples=1, copy=True).fit_predict(vectors)
    return [int(label) if label >= 0 else -1 - at for at, label in enumerate(found)]


def event_of(told: Told, found: Sequence[Event], vectors: Matrix) -> dict[StatementId, int]:
    """The event that a statement is of: the nearest one of its session and speaker, if that is near enough.

    The annotations name a session and a person but no messages, so nothing exact can be had. Statements that are
    near none are left out.
    """
    places = defaultdict(list)
    for at, event in enumerate(found):
        places[event.sitting, event.speaker].append(at)
    nearest: dict[StatementId, int] = {}
    for one in told.current:
        of_speaker = places[told.sitting(one.id), told.speaker(one.id)]
        if of_speaker:
            similar = cosine(told.vectors[one.id].vector[None, :], vectors[of_speaker])[0]
            if similar.max() >= EVENT_COSINE:
                nearest[one.id] = of_speaker[int(similar.argmax())]
    return nearest


def quality(told: Told, groups: Groups, of_event: Mapping[StatementId, int]) -> Quality:
    """How good groups of the current statements are."""
    ids = sorted(groups)
    sizes = Counter(groups.values())
    return Quality(
        groups=len(sizes),
        mean=len(ids) / len(sizes),
        largest=max(sizes.values()),
        single=sum(size == 1 for size in sizes.values()),
        tight=_tight(told, groups),
        of_sessions=_agreement(groups, {id_: told.sitting(id_) for id_ in ids}),
        of_events=_agreement(groups, of_event),
        together=together(told, groups),
    )


def together(told: Told, groups: Groups) -> float:
    """Pairs of statements on different evidence messages of one multi-hop question: share in one group, by chance's."""
    by_message = defaultdict(set)
    for id_ in groups:
        for message in told.cited[id_]:
            by_message[message].add(id_)
    pairs = {
        frozenset((one, other))
        for question in told.conversation.questions
        if question.category == MULTI_HOP
        for left, right in combinations(question.evidence, 2)
        for one in by_message[left]
        for other in by_message[right]
        if one != other
    }
    sizes = Counter(groups.values())
    total = len(groups)
    chance = sum(size * (size - 1) for size in sizes.values()) / (total * (total - 1))
    share = fmean(len({groups[one] for one in pair}) == 1 for pair in pairs) if pairs else 0.0
    return share / chance if chance else 0.0


def _agreement(groups: Groups, labels: Mapping[StatementId, object]) -> float:
    """Adjusted mutual information: 0 as by chance, 1 the same partition."""
    ids = sorted(set(groups) & set(labels))
    expected, given = _numbered([labels[id_] for id_ in ids]), _numbered([groups[id_] for id_ in ids])
    return float(adjusted_mutual_info_score(expected, given))


def _numbered(labels: Sequence[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _tight(told: Told, groups: Groups) -> float:
    members = defaultdict(list)
    for id_ in sorted(groups):
        members[groups[id_]].append(told.vectors[id_].vector)
    values = []
    for held in members.values():
        if len(held) > 1:
            rows = np.stack(held)
            similar = rows @ rows.T
            values += similar[np.triu_indices(len(held), 1)].tolist()
    return fmean(values) if values else 0.0
