"""Deliberate breaks of the service, each with the tests that must notice it. See breaks.py."""

from tests.benchmarks.break_limits import THE_LIMITS
from tests.benchmarks.break_moving import THE_MOVING
from tests.benchmarks.break_reader import THE_READER
from tests.benchmarks.break_safety import THE_SAFETY
from tests.benchmarks.break_themes import THE_THEMES
from tests.benchmarks.break_type import ROOT, Break
from tests.benchmarks.break_type import one as _one

__all__ = ["BREAKS", "ROOT", "Break"]

INGEST, SEGMENTATION, ADMISSION = (f"app/services/{name}.py" for name in ("ingest", "segmentation", "admission"))
JOBS, UNITS, RUNNER = "app/storage/jobs.py", "app/storage/unit_of_work.py", "app/jobs/runner.py"
ONE_TRANSACTION = "integration/test_one_transaction.py"
TWICE = "integration/test_statements_and_themes.py"
WORK, BELL = "integration/test_jobs.py", "integration/test_doorbell.py"


ACCEPTED_MEANS_DURABLE = (
    _one(
        "202 is sent without a commit",
        INGEST,
        "            if ingested.job is not None:\n                await unit.commit()\n        return ingested",
        "        return ingested",
        "integration/test_ingest.py::test_what_is_acknowledged_is_durable_together_with_its_job",
    ),
    _one(
        "messages are committed before their job is queued",
        INGEST,
        "    return await unit.jobs.enqueue(\n        Step.SEGMENT,",
        "    await unit.commit()\n    return await unit.jobs.enqueue(\n        Step.SEGMENT,",
        "integration/test_ingest.py::test_messages_and_their_job_are_one_transaction",
    ),
    _one(
        "the answer under an Idempotency-Key is written after the commit",
        INGEST,
        "                reply = await once.keep(unit, ingested, now)\n",
        "                await unit.commit()\n                reply = await once.keep(unit, ingested, now)\n",
        f"{ONE_TRANSACTION}::test_messages_their_job_and_the_kept_answer_are_one_transaction",
    ),
    _one(
        "a model is called inside a transaction",
        ADMISSION,
        "            first = await unit.episodes.mark_admitted(",
        "            await self._embed(attempt, episode, drawn)\n"
        "            first = await unit.episodes.mark_admitted(",
        f"{ONE_TRANSACTION}::test_no_connection_is_held_while_a_model_thinks",
    ),
)

NOTHING_LOST_NOTHING_DOUBLED = (
    Break(
        "messages leave the buffer before their episode is complete",
        SEGMENTATION,
        (
            (
                "        [vectors] = await embed_parts(",
                "        async with self.storage.write(attempt.namespace) as unit:\n"
                "            await unit.episodes.add(episode, self.clock())\n"
                "            moved = await unit.messages.assign(episode.id, [message.id for message in messages])\n"
                "            await unit.commit()\n"
                "        [vectors] = await embed_parts(",
            ),
            (
                "            await unit.episodes.add(episode, now)\n"
                "            moved = await unit.messages.assign(episode.id, [message.id for message in messages])\n",
                "",
            ),
        ),
        (f"{TWICE}::test_a_message_leaves_the_buffer_only_with_its_episode",),
    ),
    _one(
        "the job that admits an episode is queued after the commit",
        SEGMENTATION,
        "            await unit.jobs.enqueue(Step.ADMIT,",
        "            await unit.commit()\n            await unit.jobs.enqueue(Step.ADMIT,",
        f"{ONE_TRANSACTION}::test_a_steps_rows_and_the_job_that_follows_are_one_transaction",
    ),
    _one(
        "how many messages joined the episode is not looked at",
        SEGMENTATION,
        "            if moved != len(messages):\n",
        "            if not moved:\n",
        f"{ONE_TRANSACTION}::test_messages_that_left_the_buffer_meanwhile_are_in_no_second_episode",
    ),
    _one(
        "an episode is marked admitted in a transaction of its own",
        ADMISSION,
        '                return {"reason": "already admitted"}\n',
        '                return {"reason": "already admitted"}\n            await unit.commit()\n',
        f"{ONE_TRANSACTION}::test_a_steps_rows_and_the_job_that_follows_are_one_transaction",
    ),
    _one(
        "an admitted episode is admitted again",
        "app/storage/episodes.py",
        ", episodes.c.id == episode, episodes.c.admitted_at.is_(None))",
        ", episodes.c.id == episode)",
        f"{TWICE}::test_a_step_run_twice_gives_the_same_rows",
        f"{TWICE}::test_an_episode_is_admitted_exactly_once",
    ),
    _one(
        "external ids are not looked up",
        INGEST,
        "        same = known.get(name) if name is not None else None\n",
        "        same = None\n",
        "integration/test_ingest.py::test_the_same_message_again_is_a_duplicate",
        "integration/test_ingest.py::test_parallel_retries_store_one_message",
    ),
    _one(
        "another content under a taken external id passes for a duplicate",
        INGEST,
        "        elif same.digest == fingerprint:\n",
        "        elif same.digest:\n",
        "integration/test_ingest.py::test_another_content_under_a_taken_id_refuses_the_whole_batch",
    ),
    _one(
        "an Idempotency-Key is taken for what it was, whatever the body",
        "app/services/once.py",
        "        if found is not None and found.digest != self.digest:\n",
        "        if False:\n",
        "integration/test_idempotency.py::test_case_5_another_request_under_the_same_key_is_refused",
    ),
    _one(
        "work that lost its job is not looked for",
        "app/services/upkeep.py",
        ", *await directory.with_unfinished_rows()}",
        "}",
        "integration/test_upkeep.py::test_episodes_and_statements_go_on_where_their_jobs_vanished",
    ),
    _one(
        "a server that starts leaves alone what ran when it was killed",
        "app/container.py",
        "        await storage.requeue_running()\n",
        "        pass\n",
        f"{WORK}::test_a_server_that_starts_takes_up_what_ran",
    ),
)

ONE_STEP_AT_A_TIME = (
    _one(
        "the namespace's row is not locked",
        UNITS,
        "query.with_for_update() if lock else query",
        "query",
        "integration/test_ingest.py::test_case_7_parallel_posts_are_strictly_ordered_and_end_in_one_episode_each",
        "integration/test_faults.py::test_a_locked_row_holds_up_its_namespace_only",
    ),
    _one(
        "the attempt's token is not checked",
        JOBS,
        "        if held is None or erasures != attempt.erasures:\n",
        "        if erasures != attempt.erasures:\n",
        f"{TWICE}::test_an_overtaken_step_writes_nothing",
        f"{TWICE}::test_a_step_overtaken_while_it_thinks_writes_nothing",
    ),
    _one(
        "erasures are not checked",
        JOBS,
        "        if held is None or erasures != attempt.erasures:\n",
        "        if held is None:\n",
        f"{TWICE}::test_an_overtaken_step_writes_nothing",
        f"{TWICE}::test_a_step_overtaken_while_it_thinks_writes_nothing",
    ),
    _one(
        "two jobs of a namespace are claimed at once",
        JOBS,
        "        if any(row.heartbeat_at >= stale_before for row in running):\n            return None\n",
        "        running = []\n",
        f"{WORK}::test_a_running_job_is_not_claimed_again_while_it_is_alive",
        f"{WORK}::test_one_step_at_a_time_in_order_and_namespaces_side_by_side",
    ),
    _one(
        "the newest job goes first",
        JOBS,
        "due.order_by(jobs.c.due_at, jobs.c.id)",
        "due.order_by(jobs.c.due_at.desc(), jobs.c.id.desc())",
        f"{WORK}::test_one_step_at_a_time_in_order_and_namespaces_side_by_side",
    ),
    _one(
        "a silent worker is waited for",
        JOBS,
        "        if any(row.heartbeat_at >= stale_before for row in running):\n",
        "        if running:\n",
        f"{WORK}::test_a_stale_job_is_taken_up_again",
        "integration/test_jobs_and_crashes.py::test_a_heartbeat_keeps_a_job_and_silence_gives_it_away",
    ),
    _one(
        "a worker does not show that it is alive",
        RUNNER,
        "                    held = await unit.jobs.beat(attempt, self._clock())\n",
        "                    held = True\n",
        f"{WORK}::test_a_worker_that_beats_is_not_taken_for_dead",
    ),
    _one(
        "a stopping process keeps its job",
        RUNNER,
        "            await asyncio.shield(self._hand_back(attempt, meter))\n",
        "",
        f"{WORK}::test_a_stopping_process_hands_its_job_back",
    ),
    _one(
        "the bell rings outside a savepoint",
        "app/storage/bells.py",
        "    async with connection.begin_nested():\n        yield (",
        "    if True:\n        yield (",
        f"{BELL}::test_many_jobs_ring_one_bell_and_are_all_kept",
    ),
    Break(
        "the bell rings after the commit",
        UNITS,
        (
            (
                "        if self.jobs.queued:\n"
                "            await self._doorbell.before_commit(self._connection, self.namespace.id)\n"
                "        await self._connection.commit()\n",
                "        await self._connection.commit()\n"
                "        if self.jobs.queued:\n"
                "            await self._doorbell.before_commit(self._connection, self.namespace.id)\n",
            ),
        ),
        (f"{BELL}::test_the_bell_is_heard_at_once_again_and_again",),
    ),
)

EVERY_FAILURE_HAS_A_FACE = (
    _one(
        "the runner swallows an error",
        RUNNER,
        "return await self._settle_error(attempt, error, ",
        "return await self._settle_success(attempt, describe(error), ",
        f"{WORK}::test_a_bug_fails_at_once_without_quoting_memory",
        f"{WORK}::test_tries_are_bounded_and_the_cause_is_shown",
        "integration/test_faults.py::test_case_1_a_model_that_fails_for_a_while",
    ),
    _one(
        "tries are not counted",
        "app/jobs/registry.py",
        "        if not retryable or attempt >= self.attempts:\n",
        "        if not retryable:\n",
        "unit/test_retry.py::test_the_wait_grows_until_the_tries_are_used_up",
    ),
    _one(
        "the next try comes at once",
        JOBS,
        "jobs.c.state == JobState.QUEUED, jobs.c.due_at <= now)",
        "jobs.c.state == JobState.QUEUED)",
        f"{WORK}::test_a_job_that_was_put_off_is_not_taken_before_its_time",
    ),
    _one(
        "a flush says settled while jobs are open",
        "app/services/flush.py",
        "    return Flushed(counts.pending == 0 and not open_buffers,",
        "    return Flushed(True,",
        "integration/test_segmentation.py::test_a_flush_says_202_while_work_is_going_on",
    ),
    _one(
        "a flush says settled while messages are in the buffer",
        "app/services/flush.py",
        "    return Flushed(counts.pending == 0 and not open_buffers,",
        "    return Flushed(counts.pending == 0,",
        f"{WORK}::test_a_failing_step_loses_no_message_and_a_retry_brings_it_home",
    ),
)

WRITING, BESIDE = "integration/test_model_writing.py", "integration/test_edits_beside_steps.py"

MODELS_AND_EDITS = (
    _one(
        "a failed language model becomes an abstention",
        "app/services/answer.py",
        "            said = await self.composing.compose(namespace, found, evidence, asked_at, heard)\n",
        "            try:\n"
        "                said = await self.composing.compose(namespace, found, evidence, asked_at, heard)\n"
        "            except Exception:\n                said = Answer(None, True, 'no_evidence', 0.0, ())\n",
        "integration/test_model_answers.py::test_a_model_that_fails_is_an_error_and_never_an_answer",
    ),
    _one(
        "a reply without statements passes for nothing to remember",
        "app/prompts/statements.py",
        '        raise UnusableReply("it has no list of statements")',
        "        return []",
        "unit/test_prompts.py::test_what_lacks_the_asked_for_form_is_unusable",
    ),
    _one(
        "what a model says needs no support",
        "app/domain/screening.py",
        "    return None if backing.carries(candidate.text, candidate.messages) else RefusalReason.NOT_SUPPORTED",
        "    return None",
        f"{WRITING}::test_what_the_messages_do_not_say_is_refused_and_counted",
    ),
    _one(
        "a job's tokens are not bounded",
        "app/providers/guarded.py",
        "        if meter.tokens + tokens > allowed:",
        "        if False:",
        "integration/test_usage.py::test_a_job_over_its_budget_fails_with_a_clear_cause",
    ),
    _one(
        "a question is compared with vectors of another model",
        "app/services/search.py",
        "                if asked is None or unit.namespace.embedding_profile == profile:",
        "                if True:",
        "integration/test_reembedding.py::test_a_question_is_never_compared_with_vectors_of_another_model",
    ),
    _one(
        "a superseded statement still counts in its theme",
        "app/services/remembering.py",
        "    if theme is not None:\n        await shrink(unit, theme, now)",
        "",
        "integration/test_editing.py::test_the_newest_event_holds_and_the_past_stays_readable",
    ),
    _one(
        "a plan is carried out although a client edited what it was made from",
        "app/services/maintenance.py",
        "            if not await _holds(unit, situation):",
        "            if False:",
        f"{BESIDE}::test_a_correction_while_maintenance_thinks",
        f"{BESIDE}::test_many_corrections_beside_a_worker",
    ),
    _one(
        "a switch to new vectors adds up themes that have changed",
        "app/services/reembedding.py",
        "            if await unit.themes.versions() != versions:",
        "            if False:",
        f"{BESIDE}::test_a_theme_that_loses_a_member_while_a_switch_adds_up_its_vectors",
    ),
    _one(
        "a label is written although its theme has changed",
        "app/storage/themes.py",
        "themes.c.id == theme, themes.c.version == version)",
        "themes.c.id == theme)",
        f"{WRITING}::test_a_theme_that_changed_meanwhile_keeps_its_stand_in_until_it_is_asked_about_again",
    ),
)

LONG_WORK = (
    _one(
        "segmentation works until its whole backlog is done",
        "app/services/segmentation.py",
        "            if turn.is_over:",
        "            if False:",
        "integration/test_turns.py::test_what_is_cut_is_admitted_before_the_next_is_cut",
    ),
    _one(
        "a reply that its limit closed passes for whole",
        "app/providers/structured.py",
        "        _refuse_closed(reply)\n",
        "",
        "unit/test_structured.py::test_a_reply_that_was_closed_at_its_limit_is_not_taken_for_whole",
    ),
)

BREAKS = (
    *ACCEPTED_MEANS_DURABLE,
    *NOTHING_LOST_NOTHING_DOUBLED,
    *ONE_STEP_AT_A_TIME,
    *EVERY_FAILURE_HAS_A_FACE,
    *MODELS_AND_EDITS,
    *LONG_WORK,
    *THE_READER,
    *THE_THEMES,
    *THE_SAFETY,
    *THE_LIMITS,
    *THE_MOVING,
)
