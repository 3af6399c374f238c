"""Settings: read once, from the environment and `.env`; nothing else in the service reads either."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.domain.access import is_loopback
from app.domain.expansion import Measure
from app.domain.modes import AdmitMode
from app.providers.specs import MODELS_FOLDER

Positive = Annotated[int, Field(ge=1)]
ADMIN_KEY_LENGTH = 32  # characters at least: people who think one up do not think up so many
PRINTABLE = re.compile(r"[!-~]+")
A_GOOD_ONE = "openssl rand -hex 32"
EMBEDDER_FORM = re.compile(r"minilm|scripted(:[1-9]\d*)?|openai(:[^@\s]+(@[1-9]\d*)?)?|hf:.+@[^@]+")


class Group(BaseModel):
    """A group of settings, written `XMEMORY_GROUP__NAME`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SegmentSettings(Group):
    """When an episode closes."""

    gap_seconds: Positive = Field(1800, description="A pause in event time that closes an episode.")
    idle_close_seconds: Positive = Field(1800, description="An open conversation at rest for so long is closed.")
    max_messages: Positive = Field(25, description="Messages of an episode at most.")
    max_tokens: Positive = Field(2048, description="Tokens of an episode at most; a longer message stands alone.")
    mode: Literal["model", "signals"] | None = Field(
        None, description="Who decides unclear borders: model, or signals alone. Unset: model, if there is one."
    )


class AdmitSettings(Group):
    """How statements are drawn from episodes."""

    mode: AdmitMode | None = Field(
        None,
        description="off, extractive, direct (a model reads each episode) or predict (it notes what it did not "
        "expect). Unset: direct with a language model, extractive without.",
    )


class ReadSettings(Group):
    """How questions are read."""

    max_tokens: int = Field(2000, ge=64, le=32_000, description="Context handed out if the request says nothing.")
    wait_seconds: float = Field(5, ge=0, le=60, description="How long a read waits for its min_sequence.")
    gate: Measure = Field(
        Measure.EVIDENCE,
        description="How items are let into a context: off (by score alone), evidence (while the reader is unsure, by "
        "what they say) or model (while a language model's log-probabilities say so; it is asked with every search).",
    )
    probes: int = Field(16, ge=0, le=100, description="Items that a language model tests for one question at most.")
    gate_seconds: float = Field(10, gt=0, le=300, description="How long all its tests for one question may take.")
    at_once: Positive = Field(4, description="Questions that one process looks up at once; others wait in line.")
    waiting: int = Field(16, ge=0, description="Questions of one namespace that wait at most; a further one gets 503.")
    waiting_in_all: int = Field(256, ge=0, description="The same, of all namespaces together; they take turns.")
    deadline_seconds: float = Field(
        30, gt=0, description="Longest that looking up a question may take, with its wait in line; then 503."
    )


class ModelSettings(Group):
    """How models are called, whoever serves them."""

    chat_seconds: float = Field(300, gt=0, description="Longest wait for one reply of a language model.")
    embed_seconds: float = Field(60, gt=0, description="Longest wait for the vectors of one batch.")
    attempts: Positive = Field(3, description="Tries of one call before its job waits and tries again later.")
    concurrency: Positive = Field(8, description="Calls to one model at once.")
    job_tokens: Positive = Field(200_000, description="Tokens that one job may use of a language model.")


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
    """How long to wait for the database, until requests get a 503 and jobs try again; how often it is cleaned."""

    pool_size: Positive = Field(10, description="Connections kept open; under load as many more.")
    connection_seconds: float = Field(10, gt=0, description="Longest wait for a connection.")
    lock_seconds: float = Field(15, gt=0, description="Longest wait for a row or a file that somebody else writes.")
    clean_rest_seconds: float = Field(
        60, ge=0, description="Longest rest between two removals of what erased rows leave in files and statistics."
    )


class LimitSettings(Group):
    """What clients may send, how much of it, how fast; docs/limits.md has all limits."""

    body_bytes: Positive = Field(8 * 1024 * 1024, description="Largest request body.")
    import_bytes: Positive = Field(512 * 1024 * 1024, description="Largest file that is imported.")
    imports: Positive = Field(2, description="Files that one process takes at once; a further one gets 503.")
    exports: Positive = Field(4, description="Exports of one process at once; each holds a connection.")
    export_seconds: float = Field(600, gt=0, description="An export that takes longer is cut; it can be resumed.")
    bodies_bytes: Positive = Field(64 * 1024 * 1024, description="All bodies together that one process works on.")
    body_seconds: float = Field(30, gt=0, description="How long a body may keep us waiting.")
    head_bytes: Positive = Field(64 * 1024, description="Longest request line with its headers.")
    head_seconds: float = Field(10, gt=0, description="How long they may keep us waiting.")
    stalled_seconds: float = Field(60, gt=0, description="A client that does not read its answer is left after that.")
    connections: Positive = Field(1000, description="Connections to one process; a request on a further one gets 503.")
    key_requests: int = Field(
        6000, ge=0, description="Requests a minute of one key; without keys, of one address. 0: any number."
    )
    namespace_requests: int = Field(6000, ge=0, description="Requests a minute to one namespace. 0: any number.")
    pause_seconds: float = Field(0.5, ge=0, le=10, description="A request above a limit is refused after such a pause.")
    namespaces: Positive = Field(
        100_000, description="Namespaces that one key may have made; without keys, all. A further one gets 403."
    )
    buffered_messages: Positive = Field(
        20_000, description="Messages of one namespace that wait for an episode; then posting gets 429."
    )
    pending_jobs: Positive = Field(10_000, description="Jobs of one namespace that wait or run; then the same.")
    pending_jobs_in_all: Positive = Field(100_000, description="Jobs of all namespaces; then the same.")


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
        "minilm",
        description="minilm, openai[:MODEL[@DIMENSION]], hf:NAME_OR_FOLDER@REVISION, or scripted (for tests).",
    )
    embedder_base_url: str | None = Field(None, description="Endpoint of openai embeddings; CHAT_BASE_URL if unset.")
    embedder_api_key: SecretStr | None = Field(None, description="Its key; CHAT_API_KEY if unset.")
    embedder_next: str | None = Field(
        None, description="The model that `xmemory reembed` changes to, beside EMBEDDER; new namespaces use it."
    )
    embedder_next_base_url: str | None = Field(None, description="Its endpoint; EMBEDDER_BASE_URL if unset.")
    embedder_next_api_key: SecretStr | None = Field(None, description="Its key; EMBEDDER_API_KEY if unset.")
    chat: Literal["extractive", "openai", "transformers", "scripted"] = Field(
        "extractive",
        description="extractive: every language step without a model; openai: any OpenAI-compatible endpoint; "
        "transformers: a model in this process; scripted: a double, for tests.",
    )
    chat_model: str | None = Field(
        None, description="openai: the model's name; transformers: hub name, folder or smollm2-135m."
    )
    chat_revision: str | None = Field(None, description="Pinned revision of a hub model; recorded with its texts.")
    chat_base_url: str | None = Field(None, description="Endpoint, such as http://127.0.0.1:11434/v1; OpenAI if unset.")
    chat_api_key: SecretStr | None = Field(None, description="Key for the endpoint; many local ones need none.")
    chat_context_tokens: Positive | None = Field(
        None, description="The model's window, where it does not say itself; else 8192."
    )
    chat_gguf_file: str | None = Field(None, description="transformers: a GGUF file inside CHAT_MODEL.")
    chat_device: str = Field("auto", description="transformers: auto, cpu, cuda, cuda:1 …")
    chat_dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto", description="transformers: of weights."
    )
    models_folder: str = Field(MODELS_FOLDER, description="Where `xmemory models pull` puts models.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged.")
    auth: Literal["off", "keys"] = Field(
        "off", description="keys: every request for memory shows one, made with `xmemory keys`; off: nobody is asked."
    )
    admin_key: SecretStr | None = Field(
        None, description="With keys: a key with admin that makes the first ones; 32 characters or more."
    )
    audit_days: float | None = Field(
        None, gt=0, le=36_500, description="Days that lines of the audit log are kept. Unset: for ever."
    )
    allow_unauthenticated_bind: bool = Field(
        default=False, description="Listen beyond loopback although nothing asks for a key."
    )
    segment: SegmentSettings = SegmentSettings()
    admit: AdmitSettings = AdmitSettings()
    read: ReadSettings = ReadSettings()
    jobs: JobSettings = JobSettings()
    models: ModelSettings = ModelSettings()
    database: DatabaseSettings = DatabaseSettings()
    limits: LimitSettings = LimitSettings()

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: str) -> str:
        if not url.startswith(("sqlite+aiosqlite:///", "postgresql+psycopg://")):
            raise ValueError("must begin with sqlite+aiosqlite:/// or postgresql+psycopg://")
        return url

    @field_validator("embedder", "embedder_next")
    @classmethod
    def _known_embedder(cls, name: str | None) -> str | None:
        if name is not None and not EMBEDDER_FORM.fullmatch(name):
            raise ValueError("must be minilm, openai[:MODEL[@DIMENSION]], hf:NAME_OR_FOLDER@REVISION, or scripted")
        return name

    @model_validator(mode="after")
    def _named_chat_model(self) -> "Settings":
        if self.chat in ("openai", "transformers") and not self.chat_model:
            raise ValueError(f"XMEMORY_CHAT={self.chat} needs XMEMORY_CHAT_MODEL")
        return self

    @model_validator(mode="after")
    def _modes_with_a_model(self) -> "Settings":
        if self.chat == "extractive" and (self.admit_mode.asks_model or self.segment.mode == "model"):
            raise ValueError(
                "XMEMORY_ADMIT__MODE=direct or predict and XMEMORY_SEGMENT__MODE=model need a language model: "
                "set XMEMORY_CHAT"
            )
        return self

    @model_validator(mode="after")
    def _gate_with_a_model(self) -> "Settings":
        if self.chat == "extractive" and self.read.gate is Measure.MODEL:
            raise ValueError("XMEMORY_READ__GATE=model needs a language model: set XMEMORY_CHAT")
        return self

    @property
    def admit_mode(self) -> AdmitMode:
        """How statements are drawn."""
        return self.admit.mode or (AdmitMode.EXTRACTIVE if self.chat == "extractive" else AdmitMode.DIRECT)

    @property
    def local_only(self) -> bool:
        """Whether only this machine may ask, for nobody is asked for a key, here or in front of it."""
        return self.auth == "off" and not self.allow_unauthenticated_bind

    @model_validator(mode="after")
    def _loopback_without_auth(self) -> "Settings":
        if self.local_only and not is_loopback(self.host):
            raise ValueError(
                f"HOST={self.host} is reachable from other machines and nothing asks for a key: set XMEMORY_AUTH=keys, "
                "or XMEMORY_ALLOW_UNAUTHENTICATED_BIND=true if something in front of it does"
            )
        return self

    @field_validator("admin_key")
    @classmethod
    def _hard_to_guess(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None or not key.get_secret_value():
            return None
        if len(key.get_secret_value()) < ADMIN_KEY_LENGTH or not PRINTABLE.fullmatch(key.get_secret_value()):
            raise ValueError(f"must have {ADMIN_KEY_LENGTH} characters or more, of ASCII without spaces: {A_GOOD_ONE}")
        return key

    @model_validator(mode="after")
    def _keys_are_asked_for(self) -> "Settings":
        if self.admin_key is not None and self.auth == "off":
            raise ValueError("XMEMORY_ADMIN_KEY is set, but nobody is asked for a key: set XMEMORY_AUTH=keys as well")
        return self
