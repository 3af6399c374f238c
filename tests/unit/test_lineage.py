"""What a theme's lineage tells of its changes."""

from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from app.domain.ids import StatementId, ThemeId
from app.domain.lineage import REMEMBERED, Change, continued
from app.domain.theme_plan import Action, PlannedTheme, Step

NOW = datetime(2026, 3, 2, tzinfo=UTC)
OLD, OTHER = ThemeId(UUID(int=7)), ThemeId(UUID(int=8))


def planned(split_from: ThemeId | None = None, merged_from: tuple[ThemeId, ...] = ()) -> PlannedTheme:
    members = (StatementId(UUID(int=1)), StatementId(UUID(int=2)))
    return PlannedTheme(3, None, members, 2, np.ones(2, dtype=np.float32), split_from, merged_from)


def test_a_new_theme_tells_why_it_was_opened() -> None:
    step = Step(Action.OPEN, (3,), 0.0, 0.41234567, 0.52)
    assert continued(None, planned(), [Change(step, ())], NOW) == {
        "split_from": None,
        "merged_from": [],
        "history": [
            {
                "at": "2026-03-02T00:00:00+00:00",
                "action": "open",
                "size": 2,
                "gain": 0.0,
                "similarity": 0.412346,
                "threshold": 0.52,
                "themes": [],
            }
        ],
    }


def test_history_goes_on_and_is_bounded() -> None:
    lineage = continued(None, planned(split_from=OLD), [Change(Step(Action.SPLIT, (3,), 0.2), (OLD,))], NOW)
    for _ in range(REMEMBERED):
        lineage = continued(lineage, planned(), [Change(Step(Action.ATTACH, (3,), 0.1), ())], NOW)
    assert [entry["action"] for entry in lineage["history"]] == ["attach"] * REMEMBERED
    assert lineage["split_from"] == str(OLD)


def test_a_theme_remembers_what_ended_in_it_once() -> None:
    merge = Change(Step(Action.MERGE, (3,), 0.1, 0.8, 0.78, (OTHER,)), (OTHER,))
    lineage = continued(continued(None, planned(merged_from=(OTHER,)), [merge], NOW), planned(), [], NOW)
    assert lineage["merged_from"] == [str(OTHER)]
    assert lineage["history"][0]["themes"] == [str(OTHER)]
    many = tuple(ThemeId(UUID(int=number)) for number in range(100, 100 + 2 * REMEMBERED))
    assert continued(lineage, planned(merged_from=many), [], NOW)["merged_from"] == list(map(str, many[REMEMBERED:]))


def test_a_lineage_from_before_there_was_a_history_goes_on() -> None:
    before = {"last_change": "attach", "gain": 0.1, "split_from": str(OLD), "merged_from": []}
    lineage = continued(before, planned(), [Change(Step(Action.SHRINK, (3,)), ())], NOW)
    assert (lineage["split_from"], len(lineage["history"])) == (str(OLD), 1)
