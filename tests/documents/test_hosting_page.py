"""`docs/hosting.md` as somebody follows it: a bare repository with its hook, two machines, a backup."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents.code_blocks import blocks_of, run_shell

#: What the page says for a server and a backup, as folders of a test.
_PLACES = (
    ("ssh://git@host/srv/git/aria.git", "{root}/aria.git"),
    ("/srv/git/aria.git", "{root}/aria.git"),
    ("/backup/aria.bundle", "{root}/aria.bundle"),
)


@pytest.mark.slow
def test_the_page_holds(tmp_path: Path) -> None:
    """Every command of the page in its order; the backup is a full home where it is cloned."""
    server, machine, backup = ("\n" + _placed(block.text, tmp_path) for block in blocks_of("docs/hosting.md"))
    said = '{"kind":"message","role":"user","text":"Staging listens on 2222"}'
    talk = f"echo '{said}' | gitmem turn --session s1"
    begin = f"gitmem init home --agent aria\ncd home\n{talk}"
    run_shell("\n".join([server, begin, machine, f"cd {tmp_path}", backup]), tmp_path)
    restore = f"cd {tmp_path}\ngit clone -q aria.bundle restored\ncd restored\n"
    found = run_shell(
        restore + "gitmem search staging\ngitmem verify --full\n" + talk + "\ngitmem status", tmp_path
    )
    assert "Staging listens on 2222" in found
    assert "Nothing is wrong" in found
    assert "aria" in run_shell(
        f"cd {tmp_path}\ngitmem clone aria.git second\ncd second\ngitmem status", tmp_path
    )
    commit = "git -c user.name=x -c user.email=x@x commit -qm a"
    topic = f"git switch -qc topic\nmkdir -p notes\necho '# A' > notes/a.md\ngit add notes\n{commit}"
    checked = run_shell(f"cd {tmp_path}/home\n{topic}\ngitmem verify --range origin/main..HEAD", tmp_path)
    assert "Nothing is wrong: 1 commit looked at." in checked


def _placed(script: str, root: Path) -> str:
    for there, here in _PLACES:
        script = script.replace(there, here.format(root=root))
    return script
