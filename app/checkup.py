"""`xmemory doctor`: the doctor at a terminal. Findings to standard output, progress to standard error."""

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from app import container
from app.domain.errors import AppError, ConfigurationError
from app.domain.findings import MEANING, SHOWN, Finding
from app.domain.sightings import Sought
from app.services.doctor import Doctor, Patient
from app.services.repair import Repair
from app.settings import Settings

UNSEEN = "(Backups and replicas are not looked at, nor Postgres' data files and its write-ahead log.)"

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


async def run(settings: Settings, only: str | None, *, repair: bool) -> bool:
    """Check the database, and mend it if asked. True if nothing is off (any more).

    Raises ConfigurationError where it cannot be checked, or not mended.
    """
    async with container.build_doctor(settings, repairs=repair) as (doctor, mender):
        try:
            return await _treat(doctor, mender, only, repair=repair)
        except AppError as error:
            raise ConfigurationError(str(error)) from error


async def find(settings: Settings, text: str) -> bool:
    """Look for a text in all that the database holds. True if it stands nowhere. Raises ConfigurationError."""
    try:
        sought = Sought.of(text)
        async with container.build_seeker(settings) as seeker:
            found = await seeker.seek(sought)
    except (AppError, ValueError) as error:
        raise ConfigurationError(str(error)) from error
    if not found:
        out.print(f"It stands nowhere. {UNSEEN}")
        return True
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Where", "Count", "For example"):
        table.add_column(heading, justify="right" if heading == "Count" else "left", overflow="fold")
    for one in found:
        table.add_row(Text(one.place), f"{one.count:,}", "\n".join(map(str, one.ids)))
    out.print(table)
    out.print(f"\nIt stands in {len(found)} place{'' if len(found) == 1 else 's'}. {UNSEEN}")
    return False


async def _treat(doctor: Doctor, mender: Repair, only: str | None, *, repair: bool) -> bool:
    patients = await doctor.patients(only)
    findings = await _examine(doctor, patients, only)
    _show(findings, len(patients))
    if not repair or not any(finding.repairable for finding in findings):
        return not findings
    for patient in patients:
        await mender.mend(patient.id, [finding for finding in findings if finding.namespace == patient.name])
    out.print("\nAfter the repair:")
    left = await _examine(doctor, patients, only)
    _show(left, len(patients))
    return not left


async def _examine(doctor: Doctor, patients: Sequence[Patient], only: str | None) -> Sequence[Finding]:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("Namespaces", total=len(patients))
        inside = progress.add_task("Messages", total=None)
        findings = [] if only is not None else list(await doctor.look_around())
        for patient in patients:
            findings += await doctor.examine(
                [patient],
                lambda name, seen, total: progress.update(inside, description=name, completed=seen, total=total),
            )
            progress.advance(bar)
    return findings


def _show(findings: Sequence[Finding], namespaces: int) -> None:
    looked = f"{namespaces:,} namespace{'' if namespaces == 1 else 's'} looked over"
    if not findings:
        out.print(f"{looked}: nothing is off.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Namespace", "Finding", "Count", "What is off", "For example"):
        table.add_column(heading, justify="right" if heading == "Count" else "left", overflow="fold")
    for finding in findings:
        name = f"{finding.fault} ({finding.where})" if finding.where else str(finding.fault)
        meaning = MEANING[finding.fault] + ("; --repair mends it" if finding.repairable else "")
        examples = "\n".join(map(str, finding.ids[:SHOWN]))
        # Names are clients' own words: shown as they are, never read as markup.
        table.add_row(Text(finding.namespace or "-"), name, f"{finding.count:,}", meaning, examples)
    out.print(table)
    out.print(f"\n{looked}: {len(findings)} finding{'' if len(findings) == 1 else 's'}.")
