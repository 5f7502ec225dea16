"""What an operator can set, from environment variables named STUDIO_*. Nothing here touches Django."""

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


def default_data_dir() -> Path:
    """The user's own data folder on this platform."""
    return Path(platformdirs.user_data_dir("playbook-studio", appauthor=False))


class Environment(BaseSettings):
    """One field per setting; an unset one gives the embedded single-process mode."""

    model_config = SettingsConfigDict(env_prefix="STUDIO_", extra="ignore", env_ignore_empty=True)

    data_dir: Path = Field(default_factory=default_data_dir)
    """Database, secret key, sign-in links and the lock of the running server."""

    connections_file: Path | None = None
    """The connections to models, as TOML; unset means `connections.toml` in the data folder."""

    database_url: str | None = Field(
        default=None, validation_alias=AliasChoices("STUDIO_DATABASE_URL", "DATABASE_URL")
    )
    """`postgresql://user:password@host:port/name`; unset means SQLite in the data folder."""

    redis_url: str | None = None
    """`redis://host:port/0`; carries the socket groups and the job queue. Unset means in memory."""

    static_root: Path | None = None
    """Where the collected static files are; unset means those that `manage.py up` made last."""

    secret_key: str | None = None
    """Needed by several servers that share one database; a single one makes its own, once."""

    debug: bool = False
    secure_cookies: bool = False
    """Set it where a proxy serves the site over HTTPS: cookies are then never sent in the clear."""

    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ("127.0.0.1", "localhost", "[::1]")
    trusted_origins: Annotated[tuple[str, ...], NoDecode] = ()
    """Origins with their scheme, for a proxy with another name: `https://studio.example.org`."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    worker_threads: int = Field(default=4, ge=1, le=64)
    reaper_seconds: float = Field(default=15.0, gt=0)
    """How often unfinished jobs that nobody holds are looked for."""

    rehearsal_delay_ms: float = Field(default=15.0, ge=0)
    """Pause before each word of the rehearsal model, in milliseconds: slower to watch it stream."""

    @field_validator("allowed_hosts", "trusted_origins", mode="before")
    @classmethod
    def split_commas(cls, value: object) -> object:
        return (
            tuple(part.strip() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @property
    def connections_path(self) -> Path:
        """Where the connections to models are looked for; the file need not exist."""
        return self.connections_file or self.data_dir / "connections.toml"

    @property
    def embedded(self) -> bool:
        """Whether one process does everything: sockets, jobs and the reaper."""
        return self.redis_url is None
