"""Borders: a language model says where a window of messages turns to another matter."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.errors import ProviderFault, ProviderUnavailable
from app.domain.messages import Message
from app.domain.pieces import number
from app.prompts import boundary
from app.providers.protocols import ChatModel
from app.providers.structured import ask

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Borders:
    """The questions of one job. After one that failed it asks no more: borders must not wait for a model."""

    chat: ChatModel
    failed: bool = False
    asked: int = 0
    fallbacks: int = 0  # windows that the signals decided alone

    async def within(self, messages: Sequence[Message]) -> Collection[int] | None:
        """Places in `messages`, from 0, where a topic begins; None if the model does not say. Never raises for it."""
        if not self.failed:
            self.asked += 1
            try:
                begins = await ask(self.chat, boundary.render(number(messages)), boundary.parse)
            except (ProviderUnavailable, ProviderFault) as error:
                log.warning("borders are cut without the model", extra={"code": error.code})
                self.failed = True
            else:
                return {at - 1 for at in begins}
        self.fallbacks += 1
        return None
