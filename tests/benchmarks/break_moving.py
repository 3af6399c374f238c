"""Deliberate breaks of export and import: what is left out, and what is let in."""

from tests.benchmarks.break_type import Break, one

ROWS, IN, OUT = "app/storage/transfer.py", "app/services/transfer/importing.py", "app/services/transfer/exporting.py"
RESTORING, MERGING = "app/services/transfer/restoring.py", "app/services/transfer/merging.py"
CHECKING = "app/services/transfer/checking.py"
MOVING, STEPS, HOSTILE = (f"integration/test_moving{name}.py" for name in ("", "_steps", "_hostile"))
AS_IT_WAS = f"{MOVING}::test_with_vectors_everything_is_as_it_was"
MERGED = f"{MOVING}::test_a_merge_adds_only_what_is_missing"


def _left_out(name: str, condition: str, *tests: str) -> Break:
    """An export of the rows alone that meet a condition, which its header counts as well."""
    counted = "select(func.count()).select_from(table).where(self._own(table)"
    given = "query = select(*columns).where(self._own(table)"
    edits = tuple((old + ")", f"{old}, {condition})") for old in (counted, given))
    return Break(name, ROWS, edits, tests)


THE_MOVING = (
    _left_out("an export leaves out what stays of erased messages", "table is not tombstones", AS_IT_WAS),
    _left_out(
        "an export leaves out what was superseded",
        "table is not statements or statements.c.superseded_by.is_(None)",
        f"{MOVING}::test_a_file_has_something_of_everything",
    ),
    one(
        "an export is of several moments",
        "app/storage/engine.py",
        'isolation_level="REPEATABLE READ"',
        'isolation_level="READ COMMITTED"',
        f"{STEPS}::test_an_export_is_of_one_moment",
    ),
    one(
        "an export that goes on begins a line too early",
        OUT,
        "            fresh = lines[max(0, self.after - number) :]\n",
        "            fresh = lines[max(0, self.after - number - 1) :]\n",
        f"{MOVING}::test_an_export_goes_on_where_it_was",
    ),
    one(
        "an import forgets from which messages nothing more is drawn",
        RESTORING,
        'exclude={"line", "messages"}',
        'exclude={"line", "messages", "withheld"}',
        AS_IT_WAS,
    ),
    one(
        "an import forgets how long messages are kept",
        RESTORING,
        '    await unit.directory.set_retention(namespace, payload["retention_seconds"])\n',
        "",
        AS_IT_WAS,
    ),
    one(
        "an import forgets the words by which statements are found",
        RESTORING,
        "        yield Level.STATEMENT, line.id, terms(line.text)\n",
        "        yield from ()\n",
        AS_IT_WAS,
    ),
    one(
        "half an import is read",
        "app/storage/unit_of_work.py",
        "    if row.importing and not (also_deleted or also_importing):\n",
        "    if False:\n",
        f"{STEPS}::test_nobody_reads_or_writes_half_of_an_import",
    ),
    one(
        "a file that breaks off is taken for whole",
        CHECKING,
        "        if self.header is None or not self.ended:\n",
        "        if self.header is None:\n",
        f"{HOSTILE}::test_an_order_that_is_not_an_exports_is_refused",
    ),
    one(
        "what was changed on the way is stored",
        CHECKING,
        "        if line.sha256 != self._sum.hexdigest():\n",
        "        if False:\n",
        f"{HOSTILE}::test_an_order_that_is_not_an_exports_is_refused",
        f"{HOSTILE}::test_a_lie_is_named_with_its_line_and_field",
    ),
    one(
        "a namespace is made for a file before it was checked",
        IN,
        "                header = await _fill(spool, body)\n",
        "                profile = str(self.embedders.newest.profile)\n"
        "                async with self.storage.write_or_create(namespace, profile, self.clock()) as unit:\n"
        "                    await unit.commit(revises_memory=False)\n"
        "                header = await _fill(spool, body)\n",
        f"{HOSTILE}::test_a_lie_is_named_with_its_line_and_field",
        f"{HOSTILE}::test_an_order_that_is_not_an_exports_is_refused",
    ),
    one(
        "a file is stored over what is there, whatever was asked for",
        IN,
        "    if namespace.sequence and conflict is OnConflict.REFUSE:\n",
        "    if False:\n",
        AS_IT_WAS,
        MERGED,
    ),
    one(
        "a merge adds what is there under its client's id",
        MERGING,
        "if id_ not in there and draft.external_id not in known]",
        "if id_ not in there]",
        MERGED,
    ),
    one(
        "vectors of any model are taken",
        IN,
        "        vectors = header.vectors and self.embedders.find(header.embedding_profile) is not None\n",
        "        vectors = header.vectors\n",
        f"{STEPS}::test_vectors_of_another_model_are_made_anew",
    ),
    one(
        "a worker that was overtaken writes its block",
        RESTORING,
        '["message"])\n            await unit.jobs.report(attempt, far.result(attempt))\n',
        '["message"])\n',
        f"{STEPS}::test_it_goes_on_block_by_block_after_any_break",
    ),
)
