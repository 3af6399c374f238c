"""Deliberate breaks of what makes the service safe to expose: keys, and forgetting."""

from tests.benchmarks.break_type import one

ROUTES, FORGETTING = "integration/test_every_route.py", "integration/test_forgetting.py"

THE_SAFETY = (
    one(
        "a key opens every namespace",
        "app/domain/access.py",
        "return any(_matches(pattern, namespace) for pattern in self.namespaces)",
        "return True",
        f"{ROUTES}::test_a_foreign_namespace_is_like_one_that_nobody_has",
    ),
    one(
        "a revoked key still opens",
        "app/services/keys.py",
        "        if key.revoked_at is not None:\n",
        "        if False:\n",
        "integration/test_keys.py::test_revoked_at_once_on_every_replica",
    ),
    one(
        "the words of an erased statement stay in the index",
        "app/services/removing.py",
        "    await unit.words.remove(Level.STATEMENT, ids)\n",
        "",
        f"{FORGETTING}::test_a_message_goes_with_all_that_was_derived_from_it",
    ),
)
