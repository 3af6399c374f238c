"""Deliberate breaks of what bounds a client: bodies, counts, backlogs, the line of questions, deadlines."""

from tests.benchmarks.break_type import one

BODIES, RATE, BACKLOG, LANES = (
    "app/api/bodies.py",
    "app/api/limiting.py",
    "app/services/backlog.py",
    "app/services/lanes.py",
)
LIMITS, LINE = "integration/test_limits.py", "unit/test_lanes.py"
BACKLOG_ENDS = f"{LIMITS}::test_a_backlog_has_an_end"

THE_LIMITS = (
    one(
        "a body that does not say how large it is may have any size",
        BODIES,
        "        if self._seen > self.limit:\n",
        "        if False:\n",
        "integration/test_body_limit.py::test_a_body_over_the_limit_is_refused_declared_or_not",
    ),
    one(
        "bodies are not counted together",
        BODIES,
        "        elif self._bounds.held.total > self._bounds.in_all:\n",
        "        elif False:\n",
        f"{LIMITS}::test_bodies_together_have_a_limit",
    ),
    one(
        "the body of a request that is done is held for ever",
        BODIES,
        "        finally:\n            self._hold(0)\n",
        "        finally:\n            pass\n",
        f"{LIMITS}::test_bodies_together_have_a_limit",
    ),
    one(
        "a body may come as slowly as it likes",
        BODIES,
        "asyncio.timeout_at(self._deadline())",
        "asyncio.timeout_at(None)",
        "integration/test_connections.py::test_a_body_that_does_not_come",
    ),
    one(
        "a compressed body is opened",
        BODIES,
        ".strip().lower() not in PLAIN:",
        " is None:",
        f"{LIMITS}::test_a_compressed_body_is_not_opened",
    ),
    one(
        "requests are counted, and none is refused",
        RATE,
        "        allowed = await self._limiter.hit(allowance.item, who)\n",
        "        allowed = await self._limiter.hit(allowance.item, who) or True\n",
        f"{LIMITS}::test_requests_of_one_sender_and_to_one_namespace",
    ),
    one(
        "a backlog of messages has no end",
        BACKLOG,
        "        if buffered + messages > self.policy.messages:\n",
        "        if False:\n",
        BACKLOG_ENDS,
    ),
    one(
        "a backlog of jobs has no end",
        BACKLOG,
        "        if jobs >= self.policy.jobs:\n",
        "        if False:\n",
        BACKLOG_ENDS,
    ),
    one(
        "what was accepted is refused when it is sent again",
        "app/services/ingest.py",
        "        if not new:\n            return Ingested(appended, unit.namespace.sequence, None)\n"
        "        await self.backlog.admit(unit, len(new))\n",
        "        await self.backlog.admit(unit, len(drafts))\n"
        "        if not new:\n            return Ingested(appended, unit.namespace.sequence, None)\n",
        BACKLOG_ENDS,
    ),
    one(
        "any number of questions is looked up at once",
        LANES,
        "            self._free -= 1\n            return\n",
        "            return\n",
        f"{LINE}::test_a_full_line_refuses_and_says_which",
    ),
    one(
        "a namespace that floods is served first",
        LANES,
        "                self._lines[namespace] = line  # at the end: the others come first\n",
        "                self._lines[namespace] = line\n"
        "                self._lines.move_to_end(namespace, last=False)\n",
        f"{LINE}::test_namespaces_take_turns_whoever_came_first",
    ),
    one(
        "a read has no deadline",
        LANES,
        "        clock = asyncio.timeout(self._policy.seconds)\n",
        "        clock = asyncio.timeout(None)\n",
        f"{LIMITS}::test_a_read_that_takes_too_long_ends",
    ),
    one(
        "a question may have any length",
        "app/api/schemas/reading.py",
        "QUERY_LENGTH = 10_000 ",
        "QUERY_LENGTH = 10_000_000 ",
        "integration/test_bad_input.py::test_blank_and_missing_queries",
    ),
)
