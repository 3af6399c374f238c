"""Where the items of the indexed levels are kept: those that have vectors and words."""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Table, and_, exists, not_, or_

from app.domain.levels import Level
from app.storage.tables import episodes, messages, statements

ITEMS: Mapping[Level, Table] = {Level.MESSAGE: messages, Level.EPISODE: episodes, Level.STATEMENT: statements}
"""The table of each indexed level."""


def there(table: Table, level: Level) -> ColumnElement[bool]:
    """Condition on a row of `embeddings` or `postings`: its item exists, if it is one of this level."""
    items = ITEMS[level]
    return exists().where(items.c.namespace_id == table.c.namespace_id, items.c.id == table.c.item_id)


def stray(table: Table) -> ColumnElement[bool]:
    """Condition on a row of `embeddings` or `postings`: its item does not exist."""
    return not_(or_(*(and_(table.c.level == level.value, there(table, level)) for level in ITEMS)))
