"""`gitmem edit`, `retract`, `proposals` and `commit` as people use them, with real editors."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import make_home_to_edit
from system.command_line import Ran, gitmem, gitmem_process

from fixtures import git, head, run_git, write_files
from gitmem import AgentHome

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A home with a note and two entries."""
    return make_home_to_edit(tmp_path / "home")


def script(folder: Path, text: str) -> str:
    """Return the command line of an editor that is a shell script; `$1` is the file."""
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"'{path}'"


def edit(root: Path, what: str, editor: str, *options: str) -> Ran:
    """Edit with an editor, without a terminal."""
    return gitmem("edit", what, *options, cwd=root, EDITOR=editor)


class TestEditor:
    """Which editor is opened, and how."""

    @pytest.mark.parametrize("name", ["GIT_EDITOR", "EDITOR"])
    def test_from_the_environment(self, root: Path, name: str) -> None:
        """With arguments, as Git takes them."""
        ran = gitmem("edit", "a.md", cwd=root, **{name: "sed -i -e 's/two/2/'"})
        assert (ran.code, ran.err) == (0, "")
        assert re.fullmatch(r"notes/a\.md: committed as [0-9a-f]{10}\n", ran.out)
        assert "\n2\n" in (root / "notes/a.md").read_text()

    def test_the_order_is_gits(self, root: Path) -> None:
        """GIT_EDITOR, core.editor, VISUAL, EDITOR."""
        commands = {name: f"sed -i '$a {name}'" for name in ("GIT_EDITOR", "VISUAL", "EDITOR")}
        git("config", "core.editor", "sed -i '$a core.editor'", cwd=root)
        for expected in ("GIT_EDITOR", "core.editor", "VISUAL", "EDITOR"):
            assert gitmem("edit", "a.md", cwd=root, TERM="xterm", **commands).code == 0
            assert (root / "notes/a.md").read_text().endswith(f"\n{expected}\n")
            commands.pop(expected, None)
            if expected == "core.editor":
                git("config", "--unset", "core.editor", cwd=root)

    def test_a_path_with_spaces(self, root: Path, tmp_path: Path) -> None:
        """Quoted as for a shell."""
        assert edit(root, "a.md", script(tmp_path, 'echo more >> "$1"')).code == 0
        assert (root / "notes/a.md").read_text().endswith("three\nmore\n")

    def test_a_line_is_told_to_those_who_know_lines(self, root: Path, tmp_path: Path) -> None:
        """An entry is opened where it begins."""
        with AgentHome.open(root) as home:
            ref = list(home.entries("memory"))[1].source_ref
        said = tmp_path / "said"
        vi = tmp_path / "vi"
        vi.write_text(f'#!/bin/sh\necho "$@" > {said}\n')
        vi.chmod(0o755)
        assert edit(root, ref, str(vi)).code == 0
        assert said.read_text().startswith("+3 ")
        assert said.read_text().endswith("/MEMORY.md\n")

    def test_none_and_no_terminal(self, root: Path) -> None:
        """An agent that calls it learns what to do instead."""
        ran = gitmem("edit", "a.md", cwd=root)
        assert ran.code == 2
        assert "gitmem commit" in ran.err

    def test_one_that_is_not_there(self, root: Path) -> None:
        """As the shell says it."""
        assert edit(root, "a.md", "no-such-editor-anywhere").code == 2

    def test_one_that_fails_changes_nothing(self, root: Path) -> None:
        """`:cq` in vim means: leave it; what was saved before is kept aside."""
        before = (root / "notes/a.md").read_bytes()
        ran = edit(root, "a.md", "sh -c 'echo x >> \"$0\"; exit 3'")
        assert ran.code == 3
        assert (root / "notes/a.md").read_bytes() == before
        kept = Path(ran.err.rsplit(" --from ", 1)[1].strip())
        assert kept.read_bytes() == before + b"x\n"

    def test_what_it_prints_is_not_in_the_answer(self, root: Path, tmp_path: Path) -> None:
        """With `--json` there is exactly one object."""
        editor = script(tmp_path, 'echo opening; echo more >> "$1"')
        ran = gitmem_process("edit", "a.md", "--json", cwd=root, EDITOR=editor)
        assert ran.json["path"] == "notes/a.md"
        assert "opening" in ran.err

    def test_nothing_is_left_behind(self, root: Path) -> None:
        """The copy goes with the command."""
        edit(root, "a.md", "sed -i 's/two/2/'")
        assert list((root / ".git/gitmem/main/edit").iterdir()) == []

    @pytest.mark.parametrize(
        "editor",
        ["vim -es -u NONE -c '%s/two/2/' -c wq", "sh -c 'printf \"%s\\n\" ,s/two/2/ w q | ed -s $0'"],
    )
    def test_real_editors(self, root: Path, editor: str) -> None:
        """With their own ways of saving and their own files beside the copy."""
        assert shutil.which(editor.split(maxsplit=1)[0]), "install it to run this test"
        ran = edit(root, "a.md", editor)
        assert ran.code == 0, ran.err
        assert "\n2\n" in (root / "notes/a.md").read_text()


class TestWhatEditorsLeave:
    """What stands where the copy was is not always a file."""

    @pytest.mark.parametrize(
        "act",
        [
            'ln -sf /etc/passwd "$1"',
            'rm "$1"; mkfifo "$1"',
            'rm "$1"; mkdir "$1"',
            'rm "$1"; ln -s "$1" "$1"',
        ],
    )
    def test_only_a_file_is_taken(self, root: Path, tmp_path: Path, act: str) -> None:
        """[F13] A link would commit somebody else's text, and a pipe is read for ever."""
        before = head(root)
        ran = edit(root, "memory", script(tmp_path, act))
        assert ran.code == 3, ran.err
        assert "not an ordinary file" in ran.err
        assert head(root) == before
        assert edit(root, "memory", script(tmp_path, f"{act}; exit 1")).code == 3


class TestKeptText:
    """`gitmem edit --from`: a text that was refused, taken up again."""

    def command(self, said: str) -> list[str]:
        """The command that a refusal names."""
        return shlex.split(re.findall(r"gitmem (edit \S+ --from [^\s;]+)", said)[0])

    def test_mended_it_is_taken(self, root: Path) -> None:
        """The refusal's own command ends it, and nothing is left behind."""
        ran = edit(root, "a.md", f"sed -i 's/two/{KEY}/'")
        assert ran.code == 3
        take = self.command(ran.err)
        kept = Path(take[-1])
        assert gitmem(*take, cwd=root).code == 3
        kept.write_text(kept.read_text().replace(KEY, "2"))
        done = gitmem(*take, cwd=root)
        assert done.code == 0, done.err
        assert "\n2\n" in (root / "notes/a.md").read_text()
        assert not kept.parent.exists()
        assert git("status", "--short", cwd=root) == ""

    def test_as_it_is(self, root: Path) -> None:
        """Whoever knows better adds the word of Git for it."""
        take = self.command(edit(root, "a.md", f"sed -i 's/two/{KEY}/'").err)
        assert gitmem(*take, "--no-verify", cwd=root).code == 0
        assert KEY in git("show", "HEAD:notes/a.md", cwd=root)

    def test_what_came_meanwhile_stays(self, root: Path) -> None:
        """It is merged as at the time when the file was opened."""
        take = self.command(edit(root, "memory", f"sed -i 's/Alpha one/{KEY}/'").err)
        with AgentHome.open(root) as home:
            home.entries("memory").add("Gamma three.")
        kept = Path(take[-1])
        kept.write_text(kept.read_text().replace(KEY, "Alpha 1"))
        assert gitmem(*take, cwd=root).code == 0
        texts = AgentHome.open(root).entries("memory").texts
        assert texts == ["Alpha 1.", "Beta two.", "Gamma three."]

    def test_any_file(self, root: Path, tmp_path: Path) -> None:
        """A text from elsewhere takes the place of what is there; the file stays."""
        (tmp_path / "text").write_text("# A\n\nother\n")
        assert gitmem("edit", "a.md", "--from", str(tmp_path / "text"), cwd=root).code == 0
        assert (root / "notes/a.md").read_text() == (tmp_path / "text").read_text()
        assert gitmem("edit", "a.md", "--from", str(tmp_path / "none"), cwd=root).code == 4
        assert gitmem("edit", "a.md", "--from", str(tmp_path), cwd=root).code == 3


class TestWhatIsEdited:
    """Files besides memory and notes."""

    @pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
    def test_rule_files(self, root: Path, name: str) -> None:
        """`init` wrote them, people change them, and the agent may not."""
        ran = edit(root, name, "sed -i '$a # mine'")
        assert ran.code == 0, ran.err
        assert git("show", f"HEAD:{name}", cwd=root).endswith("# mine")
        with (root / name).open("a") as file:
            file.write("# more\n")
        assert gitmem("commit", cwd=root).out == "Nothing to commit.\n"
        assert gitmem("commit", name, cwd=root).code == 0
        assert git("status", "--short", cwd=root) == ""

    def test_switched_off_is_for_the_agent(self, root: Path) -> None:
        """Operators write what they have switched off in each of the ways that there are."""
        toml = root / "gitmem.toml"
        text = re.sub(r"(memory|operator)_enabled = true", r"\1_enabled = false", toml.read_text())
        toml.write_text(text)
        assert gitmem("commit", cwd=root).code == 0
        calls = (
            ["append", "--target", "operator", "--content", "Be brief."],
            ["add", "--target", "memory", "--content", "Delta four."],
        )
        for call in calls:
            assert gitmem("memory", *call, "--as", "agent", cwd=root).code == 3
            assert gitmem("memory", *call, "--as", "operator", cwd=root).code == 0
        assert edit(root, "memory", "sed -i 's/Alpha one/Alpha 1/'").code == 0


class TestFindings:
    """What speaks against a text, at a terminal and without one."""

    def test_without_a_terminal_the_text_is_kept(self, root: Path) -> None:
        """Nothing is lost, nothing is written."""
        before = head(root)
        ran = edit(root, "a.md", f"sed -i 's/two/{KEY}/'", "--json")
        assert ran.code == 3
        kept = Path(ran.json["error"]["details"]["kept"])
        assert KEY in kept.read_text()
        assert kept.stat().st_mode & 0o077 == 0
        assert ran.json["error"]["details"]["findings"][0]["fix"]
        assert ran.err.startswith("notes/a.md:")
        assert (head(root), "two" in (root / "notes/a.md").read_text()) == (before, True)

    def test_a_conflict_exits_12(self, root: Path, tmp_path: Path) -> None:
        """Done, but somebody has to look."""
        editor = script(tmp_path, f"sed -i s/two/mine/ \"$1\"; sed -i s/two/theirs/ '{root}/notes/a.md'")
        ran = edit(root, "a.md", editor, "--json")
        assert ran.code == 12, ran.err
        (copy,) = ran.json["conflicts"]
        texts = (root / "notes/a.md").read_text() + (root / copy).read_text()
        assert "mine" in texts
        assert "theirs" in texts

    @pytest.mark.parametrize(
        ("answers", "code", "text"),
        [(["k"], 0, KEY), (["d"], 0, "two"), (["a", "k"], 0, KEY + KEY)],
    )
    def test_at_a_terminal_one_is_asked(
        self, root: Path, tmp_path: Path, answers: list[str], code: int, text: str
    ) -> None:
        """Edit again, keep it anyway, or let it be."""
        editor = script(tmp_path, f"sed -i -e 's/two/{KEY}/;t' -e 's/{KEY}$/{KEY}{KEY}/' \"$1\"")
        ran = at_terminal(root, ["edit", "a.md"], answers, EDITOR=editor)
        assert ran.code == code, ran.out
        assert f"\n{text}\n" in (root / "notes/a.md").read_text()


def at_terminal(root: Path, arguments: list[str], answers: list[str], **env: str) -> Ran:
    """Run a command line at a terminal of its own, answering each question in turn."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(root)
        os.environ.update(env, TERM="dumb", PYTHONPATH=str(Path(__file__).parents[2]))
        os.execv(sys.executable, [sys.executable, "-m", "gitmem", *arguments])
    told, asked = b"", 0
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        told += part
        if told.count(b"iscard it? [a]: ") > asked and asked < len(answers):
            os.write(terminal, answers[asked].encode() + b"\n")
            asked += 1
    os.close(terminal)  # which ends whoever still waits for an answer
    _, status = os.waitpid(pid, 0)
    return Ran(os.waitstatus_to_exitcode(status), told.decode("utf-8", "replace"), "")


class TestWhileAgentsWrite:
    """Operators edit in every way while agents write."""

    @pytest.fixture
    def agent(self, root: Path) -> Iterator[list[str]]:
        """An agent that adds entries until the test ends; the list grows."""
        added: list[str] = []
        stop = threading.Event()

        def work() -> None:
            with AgentHome.open(root) as home:
                while not stop.is_set() and len(added) < 60:
                    text = f"Fact {len(added)}."
                    if home.memory("add", "user", text).success:
                        added.append(text)

        thread = threading.Thread(target=work)
        thread.start()
        yield added
        stop.set()
        thread.join()

    @pytest.mark.slow
    def test_no_entry_is_lost(self, root: Path, agent: list[str]) -> None:
        """Each edit is merged with what came while the editor was open."""
        for number in range(5):
            editor = f'sh -c \'sleep 0.1; printf "§\\nBy hand {number}.\\n" >> "$0"\''
            assert edit(root, "user", editor).code == 0
        known = list(agent)
        text = (root / "memory/USER.md").read_text()
        assert all(f"By hand {number}." in text for number in range(5))
        assert all(fact in text for fact in known)
        assert run_git("fsck", "--strict", "--no-dangling", cwd=root).returncode == 0


class TestRetract:
    """`gitmem retract` on the command line."""

    def test_a_message(self, root: Path) -> None:
        """The answer names the record; what is shown says so."""
        told = gitmem("turn", "--json", cwd=root, stdin='{"kind":"message","role":"user","text":"Port 22"}')
        ref = told.json["records"][0]["source_ref"]
        ran = gitmem("retract", ref, "--with", "Port 2222", "--reason", "moved", "--as", "operator", cwd=root)
        assert ran.code == 0
        assert re.match(rf"{ref}: retracted by memory:mem_[0-9a-f]{{15}}, committed as ", ran.out)
        shown = gitmem("get", ref, cwd=root)
        assert shown.out == "Port 22\n"
        assert "retracted by the operator" in shown.err
        again = gitmem("retract", ref, cwd=root)
        assert (again.code, "before" in again.out) == (0, True)

    def test_what_is_unknown(self, root: Path) -> None:
        """Exit 4, as for every ref."""
        assert gitmem("retract", "entry:000000000000000", cwd=root).code == 4


class TestProposals:
    """`gitmem proposals` on the command line."""

    def test_shown_judged_and_gone(self, root: Path) -> None:
        """An operator sees both sides of each edit before they say yes."""
        gitmem("config", "set", "gitmem.writeApproval", "enabled", cwd=root)
        replaced = ["memory", "replace", "--old-text", "Alpha", "--content", "Alpha 2.", "--as", "agent"]
        staged = gitmem(*replaced, "--json", cwd=root)
        assert (staged.code, staged.json["staged"]) == (0, True)
        listed = gitmem("proposals", "list", cwd=root).out
        assert "- Alpha one." in listed
        assert "+ Alpha 2." in listed
        assert "1 proposal waits" in gitmem("status", cwd=root).out
        name = staged.json["pending_id"]
        assert gitmem("proposals", "approve", name, cwd=root).code == 0
        assert "Alpha 2." in (root / "memory/MEMORY.md").read_text()
        assert gitmem("proposals", "approve", name, cwd=root).code == 4
        assert gitmem("proposals", "list", cwd=root).out == "Nothing waits.\n"

    def test_failed_ones_are_listed_last(self, root: Path) -> None:
        """Exit 3 says that something was refused."""
        for text in ("Alpha", "Beta"):
            line = ["memory", "remove", "--old-text", text, "--as", "agent", "--origin", "background_review"]
            gitmem(*line, cwd=root)
        write_files(root, {"memory/MEMORY.md": "Alpha by hand.\n§\nBeta two.\n"})
        ran = gitmem("proposals", "approve", "all", cwd=root)
        assert ran.code == 3
        assert ran.out.index("approved: remove memory: Beta") < ran.out.index("Failed, still waiting:")
        assert gitmem("proposals", "reject", "all", "--reason", "no", cwd=root).code == 0
        assert (root / "memory/MEMORY.md").read_text() == "Alpha by hand.\n"


def test_commit_names_each_finding(root: Path) -> None:
    """One line each with the fix, as a hook would print it."""
    write_files(root, {"notes/bad.md": f"# Bad\n{KEY}\n"})
    ran = gitmem("commit", cwd=root)
    assert ran.code == 3
    assert ran.err.startswith("notes/bad.md:2: ")
    assert "--no-verify" in ran.out
    assert gitmem("commit", "--no-verify", cwd=root).code == 0
    assert git("status", "--short", cwd=root) == ""
