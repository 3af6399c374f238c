"""Deliberate breaks of themes: their caps, their stability, and the one transaction that changes them."""

from tests.benchmarks.break_type import one

PLANS, STREAMS = "unit/test_themes.py", "unit/test_themes_streams.py"

THE_THEMES = (
    one(
        "a theme that is full takes one more",
        "app/domain/moves.py",
        "if target.size < policy.cap]",
        "]",
        f"{PLANS}::test_a_full_theme_takes_no_statement_of_another",
    ),
    one(
        "an old statement moves as easily as a new one",
        "app/domain/board.py",
        "stay * (count - 1 - rank) / count for rank",
        "0.0 for rank",
        f"{PLANS}::test_what_has_a_theme_moves_only_for_a_gain_above_its_price",
        f"{PLANS}::test_what_came_last_moves_more_easily_than_what_is_old",
    ),
    one(
        "a move is made for what it seems to gain, whatever it does to themes near by",
        "app/domain/moves.py",
        "    return board.total_gain(move.themes, move.after) - move.price > MIN_GAIN\n",
        "    return True\n",
        f"{STREAMS}::test_every_step_gains_what_it_claims_over_all_themes",
    ),
    one(
        "a rebuild writes over what clients edited meanwhile",
        "app/services/rebuilding.py",
        "            if await unit.statements.homes() != homes:",
        "            if False:",
        "integration/test_rebuilding.py::test_an_edit_meanwhile_makes_it_run_again",
    ),
)
