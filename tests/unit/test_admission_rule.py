"""The rule of admission: what repeats, what updates, what stands beside; whatever the order of arrival."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.claims import excludes, read
from app.domain.ids import MessageId, StatementId
from app.domain.screening import Candidate, Kind, RefusalReason, Screened
from app.domain.statements import Alike, Known, decide
from app.domain.wording import take_apart

START = datetime(2025, 1, 6, 12, tzinfo=UTC)
NOTHING = Screened((), ())


def said(
    text: str, day: int, *, message: int = 0, updates: StatementId | None = None, assistant: bool = False
) -> Candidate:
    at = START + timedelta(days=day)
    return Candidate(text, Kind.FACT, (MessageId(UUID(int=message or day + 1)),), at, None, updates, assistant)


class Memory:
    """Statements as storage keeps them."""

    def __init__(self) -> None:
        self.known: dict[StatementId, Known] = {}

    def admit(self, *candidates: Candidate) -> None:
        plan = decide(Screened(candidates, ()), list(self.known.values()))
        ids = [StatementId(UUID(int=1000 + len(self.known) + place)) for place in range(len(plan.new))]
        for id_, new in zip(ids, plan.new, strict=True):
            self.known[id_] = Known(id_, new.text, new.occurred_at, new.latest, frozenset(new.messages))
        for id_, again in plan.reinforced:
            self._change(
                id_,
                occurred_at=min(self.known[id_].occurred_at, again.occurred_at),
                latest=max(self.known[id_].latest or again.occurred_at, again.latest or again.occurred_at),
                messages=self.known[id_].messages | frozenset(again.messages),
            )
        for ending in plan.ended:
            old, by = (ids[ref] if isinstance(ref, int) else ref for ref in (ending.ref, ending.by))
            self._change(old, superseded_by=by, valid_to=ending.at)

    def _change(self, id_: StatementId, **values: object) -> None:
        fields = {name: getattr(self.known[id_], name) for name in Known.__slots__} | values
        self.known[id_] = Known(**fields)

    @property
    def current(self) -> set[str]:
        return {one.text for one in self.known.values() if one.superseded_by is None}

    def heirs(self) -> dict[str, str]:
        return {one.text: self.known[one.superseded_by].text for one in self.known.values() if one.superseded_by}


def after(*candidates: Candidate) -> Memory:
    memory = Memory()
    for candidate in candidates:
        memory.admit(candidate)
    return memory


def updates(earlier: str, later: str, *, days: int = 30) -> bool:
    first, second = START, START + timedelta(days=days)
    claims = (read(take_apart(text, at)) for text, at in ((earlier, first), (later, second)))
    return excludes(*claims, first.date(), second.date())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ann: I live in Velmar.", "Ann: I live in Nordhagen now, close to my mum."),
        ("Ann: I live in Velmar.", "Ann: I moved to Nordhagen last week (the week of 27 January 2025)."),
        ("Ann: I live in Velmar.", "Ann: I don't live in Velmar anymore."),
        ("Ann lives in Velmar.", "Ann: I live in Nordhagen."),
        ("Ann: I work at Lumen.", "Ann: I work for Pell & Sons now."),
        ("Ann: I work at Lumen for 5 years.", "Ann: I work at Lumen for 6 years."),
        ("Ann: My rent is 900 francs.", "Ann: our rent is 950 francs, sadly."),
        ("Ann: My dentist is Dr. Quandt.", "Ann: My dentist is now Dr. Abara because Dr. Quandt retired."),
        ("Ann: The shop closes at 6 pm.", "Ann: Heads up: the shop closes at 8 pm from now on."),
        ("Ann: The demo is on 11 March 2025.", "Ann: The demo is on 13 March 2025."),
        ("Ann: The demo is on 11 March 2025.", "Ann: The demo is cancelled."),
        ("Ann: The ticket QX-7 is open.", "Ann: The ticket QX-7 is closed."),
        ("Ann: I'm looking for a new flat.", "Ann: I found a flat!"),
        ("Ann: I like olives.", "Ann: I don't like olives any more."),
        ("Ann: I love olives.", "Ann: I hate olives."),
        ("Ann: I smoke.", "Ann: I stopped smoking."),
        ("Ann: I'm single.", "Ann: I'm married to Tom."),
        ("Ann: I'm vegan.", "Ann: I'm vegetarian now."),
        ("Ann: My favourite colour is blue.", "Ann: My favourite colour is green."),
        ("Ann: I have two cats.", "Ann: I've got three cats now."),
        ("Ann: The meeting is on 7 March 2025.", "Ann: The meeting was moved to 9 March 2025."),
        ("Ann: The leak is not fixed yet.", "Ann: The leak is fixed."),
        ("Ann: Mein Chef heißt Jonas Petrik.", "Ann: Mein Chef heißt jetzt Uwe Abara."),
        ("Ann: Ich habe ein Auto.", "Ann: Ich habe kein Auto mehr."),
        ("Ann: Ich wohne in Velmar.", "Ann: Jetzt wohne ich in Nordhagen."),
        ("Ann: Ich arbeite bei Lumen.", "Ann: Ich arbeite nicht mehr bei Lumen."),
        ("小雨: 我住在青石镇。", "小雨: 我现在住在云湾市。"),
        ("小雨: 我抽烟。", "小雨: 我不抽烟了。"),
        ("健: 青葉町に住んでいます。", "健: 今は霧ヶ浜に住んでいます。"),
    ],
)
def test_another_value_of_the_same_attribute_is_an_update(earlier: str, later: str) -> None:
    assert updates(earlier, later)
    assert not updates(earlier, earlier)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Ann: I live in Velmar.", "Ann Lee: I live in Nordhagen."),
        ("Ann: I live in Velmar.", "Anna Leeds lives in Nordhagen."),
        ("Ann: I live in Velmar.", "Ann: I live in Switzerland."),
        ("Ann: I live in Velmar.", "Ann: I live in a small flat."),
        ("Ann: I live in Velmar.", "Ann: I used to live in Nordhagen."),
        ("Ann: I live in Velmar.", "Ann: If I lived in Nordhagen, I'd swim."),
        ("Ann: I live in Velmar.", "Ann: I would love to live in Nordhagen."),
        ("Ann: I live in Velmar.", "Ann: My sister lives in Nordhagen."),
        ("Ann: I live in Velmar.", "Ann: I moved to Nordhagen in 2019."),
        ("Ann: I ran 5 km on Monday.", "Ann: I ran 6 km on Friday."),
        ("Ann: I bought 2 kg of rice.", "Ann: I bought 5 kg of rice."),
        ("Ann: My cat is black.", "Ann: My cat is white."),
        ("Ann: My son is 7.", "Ann: My son is 9."),
        ("Ann: My sister is Rosa.", "Ann: My sister is Ida."),
        ("Ann: My boss is German.", "Ann: My boss is Rosa."),
        ("Ann: My job is stressful.", "Ann: My job is fun."),
        ("Ann: I start work at 8 on Mondays.", "Ann: I start work at 10 on Fridays."),
        ("Ann: We arrive on 8 January 2025.", "Ann: We arrive on 3 March 2025."),
        ("Ann: I smoked.", "Ann: I don't smoke."),
        ("Ann: I like olives.", "Ben: I don't like olives."),
        ("Ann: My left knee hurts.", "Ann: My right knee hurts."),
        ("Ann: I live in Velmar and I work at Lumen.", "Ann: I live in Nordhagen."),
        ("Ann: Room 204 has a projector.", "Ann: Room 310 has a projector."),
    ],
)
def test_what_is_another_matter_stands(earlier: str, later: str) -> None:
    assert not updates(earlier, later)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann: I have three cats.", "Ann: I've got 3 cats now!"),
        ("Ann: I don't drink coffee.", "Ann: I don’t drink coffee"),
        ("Ann: On Tuesdays I coach the team.", "Ann: I coach the team on Tuesdays."),
        ("Ann: My birthday is on 3 May.", "Ann: My birthday is on May 3rd."),
        ("Ann: I passed the test today (7 January 2025).", "Ann: I passed the test yesterday (7 January 2025)."),
    ],
)
def test_the_same_in_other_words_reinforces(one: str, other: str) -> None:
    memory = after(said(one, 0), said(other, 1))
    assert [len(known.messages) for known in memory.known.values()] == [2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann: I have three cats.", "Ann: I have three dogs."),
        ("Ann: Kim beat Lou at chess.", "Ann: Lou beat Kim at chess."),
        ("Ann: I ran on Monday.", "Ann: I ran on Friday."),
        ("Ann: I like dogs.", "Ben: I like dogs."),
        ("Ann: I went there yesterday (5 January 2025).", "Ann: I went there yesterday (6 January 2025)."),
    ],
)
def test_another_word_is_another_statement(one: str, other: str) -> None:
    assert len(after(said(one, 0), said(other, 1)).current) == 2


def test_a_likeness_of_meaning_counts_only_if_no_word_speaks_against_it() -> None:
    id_ = StatementId(UUID(int=7))
    known = Known(id_, "Ann: The class begins at 9.", START)

    def plan(text: str, cosine: float) -> int:
        return len(decide(Screened((said(text, 3),), ()), [known], Alike({(text, id_): cosine}, 0.8)).reinforced)

    assert plan("Ann: The class starts at 9.", 0.95) == 1
    assert plan("Ann: The class starts at 9.", 0.7) == 0
    assert plan("Ann: The class starts at 8.", 0.99) == 0
    assert plan("Ann: The class starts late at 9.", 0.99) == 0
    assert plan("Ben: The class starts at 9.", 0.99) == 0


HOMES = ("Velmar", "Nordhagen", "Quillhaven")
STAYS = st.lists(st.sampled_from(HOMES), min_size=1, max_size=5)


@given(STAYS, st.data())
def test_the_order_of_arrival_does_not_matter(stays: Sequence[str], data: st.DataObject) -> None:
    told = [said(f"Ann: I live in {home}.", day) for day, home in enumerate(stays)]
    memory = after(*data.draw(st.permutations(told)))
    assert memory.current == {told[-1].text}
    batch = Memory()
    batch.admit(*data.draw(st.permutations(told)))
    assert batch.current == {told[-1].text}
    again = dict(memory.known)
    memory.admit(*told)  # the same messages once more change nothing
    assert memory.known == again


def test_a_chain_is_the_same_whatever_came_first() -> None:
    told = [said(f"Ann: My rent is {rent} francs.", day) for day, rent in ((0, 900), (10, 950), (20, 990))]
    for order in permutations(told):
        memory = after(*order)
        assert memory.heirs() == {told[0].text: told[1].text, told[1].text: told[2].text}
        ends = {known.text: known.valid_to for known in memory.known.values()}
        assert ends == {told[0].text: told[1].occurred_at, told[1].text: told[2].occurred_at, told[2].text: None}


def test_what_was_superseded_is_reinforced_by_what_was_said_before_that_and_new_when_said_after() -> None:
    first, moved = said("Ann: I live in Velmar.", 0), said("Ann: I live in Nordhagen.", 10)
    memory = after(first, moved, said("Ann: I live in Velmar.", 5))
    assert (len(memory.known), memory.current) == (2, {moved.text})
    memory.admit(said("Ann: I live in Velmar again.", 20))
    assert memory.current == {"Ann: I live in Velmar again."}
    assert len(memory.known) == 3


def test_a_model_may_say_what_is_updated_and_event_time_still_decides() -> None:
    id_ = StatementId(UUID(int=7))
    known = Known(id_, "Ann plays chess with Tom.", START, messages=frozenset((MessageId(UUID(int=1)),)))
    later, sooner = (said("Ann has given up chess.", day, message=9, updates=id_) for day in (5, -5))
    [ending] = decide(Screened((later,), ()), [known]).ended
    assert (ending.ref, ending.by, ending.at) == (id_, 0, later.occurred_at)
    [ending] = decide(Screened((sooner,), ()), [known]).ended
    assert (ending.ref, ending.by, ending.at) == (0, id_, START)


def test_the_users_own_version_is_ended_by_no_candidate() -> None:
    id_ = StatementId(UUID(int=7))
    fixed = Known(id_, "Ann: I live in Velmar.", START, messages=frozenset((MessageId(UUID(int=1)),)), fixed=True)
    plan = decide(Screened((said("Ann: I live in Nordhagen.", 9),), ()), [fixed])
    assert (len(plan.new), plan.ended) == (1, ())
    plan = decide(Screened((said("Ann: I live in Nordhagen.", -9, message=3),), ()), [fixed])
    assert [ending.by for ending in plan.ended] == [id_]


def test_what_comes_back_is_refused_with_a_reason() -> None:
    known = [Known(StatementId(UUID(int=7)), "Ann: I moved to Velmar in 2019.", START)]
    recalled = said("Assistant: Ann: I moved to Velmar in 2019.", 3)
    echo = said("Assistant: You told me that you moved to Velmar in 2019.", 3, assistant=True)
    plan = decide(Screened((recalled, echo), ()), known)
    assert [refusal.reason for refusal in plan.refused] == [RefusalReason.RECALLED, RefusalReason.ECHO]
    assert not plan.new
    assert not plan.reinforced


def test_of_several_sons_the_years_tell_which() -> None:
    assert updates("Ann: My son is 7.", "Ann: My son is 8 years old.", days=300)
    assert not updates("Ann: My son is 7.", "Ann: My son is 12.", days=300)
    assert not updates("Ann: My son is 9.", "Ann: My son is 8.", days=300)
