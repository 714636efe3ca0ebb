"""`docs/what-gitmem-does-to-your-repository.md` names what a home holds after gitmem has worked in it."""

from __future__ import annotations

from pathlib import Path

from fixtures import git, make_repo
from gitmem.drivers import driver_settings
from gitmem.home import AgentHome
from gitmem.hook_files import CLIENT, SERVER
from gitmem.init import SETTINGS
from gitmem.templates import render_templates

PAGE = (Path(__file__).parents[2] / "docs" / "what-gitmem-does-to-your-repository.md").read_text("utf-8")


def test_every_file_and_setting_of_init_is_named() -> None:
    """What `init` brings is listed, file by file and key by key."""
    for path in render_templates(agent="aria", home_id="h0123456789abcde"):
        assert f"`{path}`" in PAGE
    for key, value in {**SETTINGS, "gitmem.branch": "the branch of that moment"}.items():
        assert f"| `{key}` |" in PAGE
        assert value in PAGE
    assert all(f"`{key}`" in PAGE for key in driver_settings("/python"))


def test_what_appears_in_a_repository_is_named(tmp_path: Path) -> None:
    """After a turn and a note nothing is there that the page does not speak of."""
    repo = make_repo(tmp_path / "home")
    before = set(git("config", "--local", "--name-only", "--list", cwd=repo).splitlines())
    with AgentHome.init(repo, agent="aria") as home:
        home.record([{"kind": "message", "role": "user", "text": "hello"}])
        home.note_add("a.md", content="A", by="agent")
        home.catch_up()
        home.notes()
    refs = git("for-each-ref", "--format=%(refname)", cwd=repo).splitlines()
    assert {ref.rsplit("/", 1)[0] for ref in refs} == {"refs/heads", "refs/heads/gitmem/turns"}
    settings = set(git("config", "--local", "--name-only", "--list", cwd=repo).splitlines()) - before
    assert {key.lower() for key in [*SETTINGS, "gitmem.branch", *driver_settings("/python")]} == settings
    private = {path.relative_to(repo / ".git").as_posix() for path in (repo / ".git" / "gitmem").rglob("*")}
    for path in private:
        if not path.startswith("gitmem/index/"):
            name = path.rsplit("/", 1)[-1]
            assert f"`{name}" in PAGE or f"/{name}" in PAGE, path
    hooks = {path.name for path in (repo / ".git" / "hooks").iterdir() if path.suffix != ".sample"}
    assert hooks == set(CLIENT)
    assert all(f"`{name}`" in PAGE for name in (*CLIENT, *SERVER))
