"""Browsing episodes."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.memory import EpisodeOut
from app.api.security import Guarded
from app.domain.ids import EpisodeId

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["memory"], route_class=Guarded)


@router.get("/episodes", operation_id="list_episodes", responses=documented(404))
async def list_episodes(namespace: NamespaceName, page: Annotated[PageQuery, Query()], use: Use) -> Page[EpisodeOut]:
    """List episodes, oldest first."""
    found, names = await use.memory.episodes(namespace, page.after_id(), page.limit)
    full = len(found) == page.limit
    return Page(
        items=[EpisodeOut.of(episode, names[episode.conversation]) for episode in found],
        next_cursor=encode_cursor(found[-1].id) if full else None,
    )


@router.get("/episodes/{episode}", operation_id="get_episode", responses=documented(404))
async def get_episode(namespace: NamespaceName, episode: UUID, use: Use) -> EpisodeOut:
    """One episode."""
    return EpisodeOut.of(*await use.memory.episode(namespace, EpisodeId(episode)))
