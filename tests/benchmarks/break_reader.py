"""Deliberate breaks of the reader: its gate, its ranking by words, its answers, and their way to the client."""

from tests.benchmarks.break_type import one

GATE, ANSWERING, STREAMS = "integration/test_gate.py", "integration/test_answer.py", "integration/test_answer_stream.py"
SEARCHES = "integration/test_search.py"
VERDICTS, EXPANSION = "app/domain/verdicts.py", "app/domain/expansion.py"

THE_READER = (
    one(
        "a sure reader takes in more all the same",
        EXPANSION,
        "    if before <= policy.enough and used + tokens > policy.free:",
        "    if False:",
        "unit/test_expansion.py::test_who_is_sure_takes_in_nothing_more",
        f"{GATE}::test_a_sure_reader_is_handed_less",
    ),
    one(
        "what failed its gate comes in by the back door",
        EXPANSION,
        "        return verdict is Verdict.TAKEN\n",
        "        return True\n",
        "unit/test_expansion.py::test_what_failed_is_never_in",
    ),
    one(
        "an item need not pay for its tokens",
        EXPANSION,
        "policy.gain == 0.0 or before - after >= least * before",
        "True",
        "unit/test_expansion.py::test_an_item_has_to_pay_for_its_tokens",
    ),
    one(
        "what was erased while a model tested it is handed out",
        "app/services/search.py",
        "                if unit.namespace.erasures == gathered.erasures:",
        "                if True:",
        f"{GATE}::test_what_is_deleted_while_a_model_thinks_is_not_handed_out",
    ),
    one(
        "what was erased while a model answered is told",
        "app/services/answer.py",
        "                if unit.namespace.erasures == answered.found.erasures:",
        "                if True:",
        f"{GATE}::test_what_is_deleted_while_a_model_answers_is_not_told",
    ),
    one(
        "statements are handed out beside messages as short",
        "app/services/expansion.py",
        "        worth = items if measure is Measure.MODEL else brief(items, _fitting(items, limits), limits.brevity)",
        "        worth = items",
        f"{SEARCHES}::test_the_trace_tells_what_led_to_the_choice",
    ),
    one(
        "a message takes the place of what corrects it",
        "app/services/evidence.py",
        "        corrects=statement.origin is Origin.USER,",
        "        corrects=False,",
        "integration/test_editing.py::test_a_correction_is_handed_out_beside_what_it_corrects",
    ),
    one(
        "what a filter leaves out tells nothing of its neighbours",
        "app/services/candidates.py",
        "    may_be_outside = level is Level.MESSAGE and matching is not None",
        "    may_be_outside = False",
        f"{SEARCHES}::test_what_a_limit_leaves_out_still_speaks_for_its_neighbours",
    ),
    one(
        "where a filter leaves nothing, a level is taken for empty",
        "app/storage/repository.py",
        "spread.outerjoin(kept, true())",
        "spread.join(kept, true())",
        f"{SEARCHES}::test_what_a_limit_leaves_out_still_speaks_for_its_neighbours",
    ),
    one(
        "how the words are met counts for nothing",
        "app/domain/fusion.py",
        "    own = own + policy.late * _met(pool, policy)",
        "    own = own + 0.0 * _met(pool, policy)",
        "unit/test_fusion.py::test_what_meets_the_words_goes_first_between_equals",
    ),
    one(
        "a word counts by its farthest instead of its nearest",
        "app/domain/late.py",
        "np.maximum.reduceat",
        "np.minimum.reduceat",
        "unit/test_late.py::test_each_word_counts_by_its_nearest",
    ),
    one(
        "what is known of another year only is told",
        "app/domain/answers.py",
        "    return any(when.granularity in LONG_TIMES and when.open is None for when in question.dates)",
        "    return False",
        "unit/test_abstention.py::test_a_year_that_nobody_spoke_of_is_outside_the_time",
        "unit/test_verdicts.py::test_what_is_said_of_another_year_is_outside_the_time",
    ),
    one(
        "nobody looks beyond the time that a read is limited to",
        "app/services/answer.py",
        "        if not await self._is_known(namespace, found, asked_at):",
        "        if True:",
        f"{ANSWERING}::test_what_is_known_of_another_time_only_is_said_to_be",
    ),
    one(
        "a model is believed whosever words it cites",
        VERDICTS,
        "    if len(case.question.names) == 1 and all(sentence.about is About.OTHER for sentence in case.cited):",
        "    if False:",
        "unit/test_verdicts.py::test_what_somebody_else_says_of_themselves_is_the_wrong_persons",
    ),
    one(
        "one side of a contradiction is told by a model",
        VERDICTS,
        "    if other is not None and other.is_equal:",
        "    if False:",
        "unit/test_verdicts.py::test_one_side_of_a_contradiction_is_no_answer_and_both_are_cited",
    ),
    one(
        "data are returned that do not follow the schema",
        "app/domain/forms.py",
        "        if fault is not None:",
        "        if False:",
        "unit/test_forms.py::test_data_that_do_not_are_unusable_and_never_quoted",
    ),
    one(
        "the work goes on for a client that has left",
        "app/api/presence.py",
        "            if working.cancel():\n                await asyncio.wait({working})",
        "            await asyncio.sleep(0)",
        f"{STREAMS}::test_nobody_works_for_a_client_that_has_left",
    ),
    one(
        "a stream's work goes on when its client has left",
        "app/api/streaming.py",
        "        if work.cancel():  # it was not done",
        "        if False:",
        f"{STREAMS}::test_a_silent_stream_shows_that_it_lives",
    ),
    one(
        "a stream that fails ends without a word",
        "app/api/streaming.py",
        '            self._put("error", self._problem(error))\n',
        "",
        "unit/test_streaming.py::test_only_what_is_new_is_sent_and_another_try_begins_anew",
        f"{STREAMS}::test_what_goes_wrong_after_it_is_an_event",
    ),
    one(
        "a silent stream gives no sign of life",
        "app/api/streaming.py",
        "                yield HEARTBEAT\n",
        "                continue\n",
        f"{STREAMS}::test_a_silent_stream_shows_that_it_lives",
    ),
)
