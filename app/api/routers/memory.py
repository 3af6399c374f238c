"""Browsing episodes and themes."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.memory import EpisodeOut, ThemeOut
from app.domain.ids import EpisodeId, ThemeId

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["memory"])


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


@router.get("/themes", operation_id="list_themes", responses=documented(404))
async def list_themes(namespace: NamespaceName, page: Annotated[PageQuery, Query()], use: Use) -> Page[ThemeOut]:
    """List themes, oldest first."""
    found = await use.memory.themes(namespace, page.after_id(), page.limit)
    full = len(found) == page.limit
    return Page(
        items=[ThemeOut.of(view) for view in found],
        next_cursor=encode_cursor(found[-1].theme.id) if full else None,
    )


@router.get("/themes/{theme}", operation_id="get_theme", responses=documented(404))
async def get_theme(namespace: NamespaceName, theme: UUID, use: Use) -> ThemeOut:
    """One theme: what is in it, what is near it, where it came from."""
    return ThemeOut.of(await use.memory.theme(namespace, ThemeId(theme)))
