"""The wheel, installed elsewhere: it carries all it needs and runs without the checkout."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def _run(*command: str | Path, **settings: str) -> str:
    """Run a command away from the checkout; return what it prints. It must not fail."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        list(map(str, command)),
        cwd="/",
        env={**environment, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands are of a fresh environment that has the wheel, and our dependencies by reference."""
    environment = tmp_path_factory.mktemp("elsewhere") / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    packages = Path(_run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # A plain directory: the link to the checkout that an editable install leaves in ours is not followed.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return environment / "bin"


DATA = {".json", ".npy"}


def test_the_wheel_carries_migrations_and_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    revisions = {f"app/_migrations/versions/{path.name}" for path in (ROOT / "migrations" / "versions").glob("*.py")}
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.*") if path.suffix in DATA}
    assert names >= revisions | data | {"app/_migrations/env.py"}
    assert revisions
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"app"}


def test_the_installed_app_is_the_one_from_the_wheel(commands: Path) -> None:
    found = _run(commands / "python", "-c", "import app, app.storage.migrate as m; print(app.__file__, m.IN_WHEEL)")
    for path in found.split():
        assert Path(path).resolve().is_relative_to(commands.parent.resolve())
        assert Path(path).exists()


def test_the_installed_command_migrates_a_fresh_database(commands: Path, tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/memory.db"
    assert _run(commands / "xmemory", "version").strip()
    for _ in range(2):
        _run(commands / "xmemory", "migrate", XMEMORY_DATABASE_URL=url)
    assert (tmp_path / "memory.db").stat().st_size > 0


@pytest.mark.models
def test_the_installed_demo_shows_memory_and_answers_its_questions(commands: Path) -> None:
    printed = _run(commands / "xmemory", "demo")
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line != line.rstrip()]
    for heading in ("Episodes", "Statements", "Themes", "Questions", "What next"):
        assert any(line.startswith(heading) for line in lines), heading
    assert '[m3] Rosa, 3 March 2026: "I moved to Porto last Friday!"' in printed
    assert "→ Friday, 27 February 2026 " in printed
    assert "→ I don't know: " in printed
