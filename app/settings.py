"""Settings: read once, from the environment and `.env`; nothing else in the service reads either."""

from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Positive = Annotated[int, Field(ge=1)]


class Group(BaseModel):
    """A group of settings, written `XMEMORY_GROUP__NAME`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SegmentSettings(Group):
    """When an episode closes."""

    gap_seconds: Positive = Field(1800, description="A pause in event time that closes an episode.")
    idle_close_seconds: Positive = Field(1800, description="An open conversation at rest for so long is closed.")
    max_messages: Positive = Field(25, description="Messages of an episode at most.")
    max_tokens: Positive = Field(2048, description="Tokens of an episode at most; a longer message stands alone.")


class ReadSettings(Group):
    """How questions are read."""

    max_tokens: int = Field(2000, ge=64, le=32_000, description="Context handed out if the request says nothing.")
    wait_seconds: float = Field(5, ge=0, le=60, description="How long a read waits for its min_sequence.")


class JobSettings(Group):
    """How a process runs background work."""

    side_by_side: Positive = Field(4, description="Namespaces that one process works on at once.")
    heartbeat_seconds: float = Field(10, gt=0, description="How often a running job shows that it is alive.")
    stale_seconds: float = Field(60, gt=0, description="A worker silent for so long is taken for dead.")
    upkeep_seconds: float = Field(15, gt=0, description="Between looks for conversations at rest and lost work.")
    stop_seconds: float = Field(10, ge=0, description="A stopping process waits so long for its steps.")

    @model_validator(mode="after")
    def _beats_in_time(self) -> "JobSettings":
        if self.stale_seconds < 2 * self.heartbeat_seconds:
            raise ValueError("stale_seconds must be at least twice heartbeat_seconds")
        return self


class DatabaseSettings(Group):
    """How long to wait for the database; then requests get a 503 and jobs try again."""

    pool_size: Positive = Field(10, description="Connections kept open; under load as many more.")
    connection_seconds: float = Field(10, gt=0, description="Longest wait for a connection.")
    lock_seconds: float = Field(15, gt=0, description="Longest wait for a row or a file that somebody else writes.")


class LimitSettings(Group):
    """What a client may send."""

    body_bytes: Positive = Field(8 * 1024 * 1024, description="Largest request body.")


class Settings(BaseSettings):
    """All settings. `.env.example` lists every one with its default."""

    model_config = SettingsConfigDict(
        env_prefix="XMEMORY_", env_nested_delimiter="__", env_file=".env", extra="ignore", frozen=True
    )

    database_url: str = Field(
        "sqlite+aiosqlite:///./xmemory.db",
        description="sqlite+aiosqlite:///PATH, or postgresql+psycopg://USER:PASSWORD@HOST/DATABASE.",
        repr=False,
    )
    host: str = Field("127.0.0.1", description="Address to listen on. Without auth: loopback only.")
    port: int = Field(8000, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    worker: Literal["inline", "off"] = Field("inline", description="Run background work in the server, or not.")
    embedder: str = Field(
        "minilm", description="minilm, hf:NAME_OR_FOLDER@REVISION, or scripted (hash vectors, for tests)."
    )
    chat: Literal["extractive"] = Field(
        "extractive", description="extractive: every language step in a deterministic form, without a model."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged.")
    allow_unauthenticated_bind: bool = Field(
        default=False, description="Listen beyond loopback although nothing asks for a key."
    )
    segment: SegmentSettings = SegmentSettings()
    read: ReadSettings = ReadSettings()
    jobs: JobSettings = JobSettings()
    database: DatabaseSettings = DatabaseSettings()
    limits: LimitSettings = LimitSettings()

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: str) -> str:
        if not url.startswith(("sqlite+aiosqlite:///", "postgresql+psycopg://")):
            raise ValueError("must begin with sqlite+aiosqlite:/// or postgresql+psycopg://")
        return url

    @field_validator("embedder")
    @classmethod
    def _known_embedder(cls, name: str) -> str:
        if name in ("minilm", "scripted") or (name.startswith("hf:") and name[3:].rpartition("@")[0]):
            return name
        raise ValueError("must be minilm, scripted, or hf:NAME_OR_FOLDER@REVISION")

    @model_validator(mode="after")
    def _loopback_without_auth(self) -> "Settings":
        if not self.allow_unauthenticated_bind and not _is_loopback(self.host):
            raise ValueError(
                f"HOST={self.host} is reachable from other machines and nothing asks for a key: "
                "set XMEMORY_ALLOW_UNAUTHENTICATED_BIND=true if something in front of it does"
            )
        return self


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
