"""The commands `xmemory eval run | report | compare`; the last two are in `app/evaluation/reporting`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app.evaluation import loading, running
from app.evaluation.commands import DEFAULT_URL, Key
from app.evaluation.errors import ToolError
from app.evaluation.loading import Format
from app.evaluation.plan import Plan, limited
from app.evaluation.reporting import commands as reporting
from app.evaluation.running import Order, Reached
from app.evaluation.terminal import run

MIN_TOKENS, MAX_TOKENS = 64, 32_000  # budgets that the service takes
MOST_AT_ONCE = 64  # requests


class Statements(StrEnum):
    """Statements that are posted beside the messages."""

    OBSERVATIONS = "observations"


Data = Annotated[Path | None, typer.Option("--data", help="The data set's file.", exists=True, dir_okay=False)]
Measured = Annotated[
    Format, typer.Option(help="What to measure on; `sample` is small, made up, and comes with the project.")
]
Numbers = Annotated[str, typer.Option(help="Conversations by their place in the file: 1,2. Default: all.")]
Service = Annotated[str | None, typer.Option("--url", help=f"A running service, such as {DEFAULT_URL}.")]
Embedded = Annotated[bool, typer.Option("--embedded", help="Start a server; its database lies in the folder of --out.")]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        help="A search strategy, with levels if not the usual ones: bm25:message. Repeatable. `full`: the whole "
        "conversation as the context. Default: adaptive."
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first questions of each conversation.")]
Answers = Annotated[bool, typer.Option("--answers", help="Also ask for answers, at the largest budget.")]
Sessions = Annotated[
    bool, typer.Option("--sessions", help="Put conversations in session by session, each settled before the next.")
]
Noted = Annotated[Statements | None, typer.Option(help="Also post the data's own statements, as a client would.")]
Corrections = Annotated[
    bool, typer.Option("--corrections", help="Leave out the questions whose answers are known to be wrong.")
]
JudgeUrl = Annotated[
    str | None, typer.Option("--judge", help="An OpenAI-compatible endpoint that judges answers: …/v1.")
]
JudgeKey = Annotated[
    str | None, typer.Option(envvar="XMEMORY_JUDGE_KEY", help="The judge's key, if it wants one.", metavar="KEY")
]
AtOnce = Annotated[int, typer.Option(min=1, max=MOST_AT_ONCE, help="Requests under way at once.")]
Out = Annotated[
    Path | None, typer.Option(help="The run's folder. The same command again goes on there.", file_okay=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    evaluation = typer.Typer(help="Measure how well the service remembers.", no_args_is_help=True)
    evaluation.command("run")(run_evaluation)
    reporting.register(evaluation)
    app.add_typer(evaluation, name="eval")


def run_evaluation(
    *,
    dataset: Measured = Format.LOCOMO,
    data: Data = None,
    conversations: Numbers = "",
    url: Service = None,
    key: Key = None,
    embedded: Embedded = False,
    strategy: Strategies = None,
    budgets: Annotated[str, typer.Option(help="Context budgets in tokens.")] = "250,500,1000,2000",
    limit: Limit = None,
    answers: Answers = False,
    sessions: Sessions = False,
    statements: Noted = None,
    corrections: Corrections = False,
    judge: JudgeUrl = None,
    judge_model: Annotated[str | None, typer.Option(help="The judge's model.")] = None,
    judge_key: JudgeKey = None,
    namespace: Annotated[str, typer.Option(help="Namespaces are this and the conversation's name.")] = "eval",
    concurrency: AtOnce = 4,
    out: Out = None,
) -> None:
    """Measure how much of the evidence for each question the service finds, and how well it answers.

    Each conversation goes into a namespace of its own. Killed, it goes on where it was when it is run again.
    """
    if embedded == (url is not None):
        raise typer.BadParameter("give either --url or --embedded")
    if (judge is None) != (judge_model is None) or (judge is not None and not answers):
        raise typer.BadParameter("a judge needs --judge, --judge-model and --answers")

    async def work() -> None:
        plan = Plan(
            strategies=tuple(dict.fromkeys(strategy or ["adaptive"])),
            budgets=_budgets(budgets),
            answers=answers,
            sessions=sessions,
            noted=statements is not None,
            judge=judge_model,
            prefix=namespace,
            concurrency=concurrency,
        )
        asked = {"limit": limit, "corrections": corrections, "embedded": embedded}
        order = _order(plan, dataset, data, conversations, asked, Reached(url, key, judge, judge_key))
        await running.run(order, out and out.resolve())

    run(work())


def _order(
    plan: Plan, dataset: Format, data: Path | None, numbers: str, asked: dict[str, Any], reached: Reached
) -> Order:
    loaded = loading.load(dataset, data)
    picked = loaded.pick(_numbers("--conversations", numbers, 1, len(loaded.conversations)))
    if plan.noted and not any(conversation.noted for conversation in picked):
        raise ToolError("this data has no statements to post: leave out --statements")
    wrong = loading.wrong_answers(loaded) if asked["corrections"] else {}
    kept, left_out = limited(picked, asked["limit"], wrong)
    return Order(plan, loaded, kept, left_out, asked, reached)


def _budgets(text: str) -> tuple[int, ...]:
    numbers = _numbers("--budgets", text, MIN_TOKENS, MAX_TOKENS)
    if not numbers:
        raise ToolError("--budgets must name one at least")
    return tuple(sorted(numbers))


def _numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """`"1,2"` as numbers, each once. Raises ToolError."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ToolError(f'{option} "{text}" must be numbers with commas between, such as 500,1000') from error
    outside = [number for number in numbers if not least <= number <= most]
    if outside:
        raise ToolError(f"{option}: {outside[0]} is not between {least} and {most}")
    return list(dict.fromkeys(numbers))
