"""What the scanner costs: ordinary text per KB, and text of 64 KiB that is made to be slow.

python benchmarks/bench_scanner.py [--runs 300]
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gitmem.redaction import redact_secrets
from gitmem.scanner import scan
from gitmem.threats import find_threats

ENGLISH = (
    "The staging server listens on port 2222 and is restarted by the deploy job every night. The user "
    "prefers short answers, tabs over spaces and tests before code. We decided to keep the ledger "
    "append-only because an operator may amend a commit at any time. Remember to update the changelog "
    "when a command changes. The review of the parser is due on Thursday; "
    "Kim has the notes and brings the printed plan. "
)
CHINESE = (
    "预发布服务器监听 2222 端口，每天夜里由部署任务重启。用户喜欢简短的回答，先写测试再写代码。"
    "我们决定让账本只追加，因为操作者随时可能修改提交。请记得在命令变化时更新变更日志！"
)
CODE = (
    "def read_turn(path: Path) -> SpooledTurn:\n    header = {}\n"
    "    for row in _rows(path.read_bytes()):\n"
    '        if "kind" in row:\n            events.append(row)  # in order\n    return SpooledTurn(header)\n'
)
HOSTILE = (
    *(
        "ignore ",
        "ignore all ",
        "instructions. ignore all ",
        "ignore the instruction. previous ",
        " ",
        "word ",
    ),
    *("<!--", "<!-- ignore --> ", "you are now ", "curl $api ", "cat .en ", "send post to ", "do not tell "),
    *(
        "send passwords to a@b ",
        "忽略之前。",
        "忽略之前的。指令",
        "i\u200b",
        "іgnоrе ",
        "1gn0re all ",
        "a b ",
    ),
    *(
        "i g n o r e  ",
        "ﬁ",
        "👨\u200d👩\u200d👧",
        'attack "ignore previous instructions" ',
        "![a](https://a?",
    ),
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300)
    options = parser.parse_args()
    print(f"1 KB, median of {options.runs}, µs:   threats   secrets      scan")
    for name, part in (("English", ENGLISH), ("Chinese", CHINESE), ("code", CODE)):
        text = _of_size(part, 1024)
        costs = (_median(one, text, options.runs) * 1e6 for one in (find_threats, redact_secrets, scan))
        print(f"{name:26}" + "".join(f"{cost:10.0f}" for cost in costs))
    print("\n64 KiB of near misses, best of 5, ms")
    for unit in HOSTILE:
        text = _of_size(unit, 1 << 16)
        print(f"{unit!r:45} {min(_times(scan, text, 5)) * 1e3:8.2f}")
    print("\n64 KiB of words that are all different, each text read once, best of 5, ms")
    for name, letters in (
        ("letters", string.ascii_lowercase),
        ("letters and digits", "abegilostr0134570157"),
    ):
        texts = [_different(letters, 1 << 16, seed) for seed in range(6)]
        print(f"{name:45} {min(_cost(scan, text) for text in texts[1:]) * 1e3:8.2f}")


def _of_size(part: str, size: int) -> str:
    """Return a part repeated to about `size` bytes of UTF-8."""
    return (part * (size // len(part.encode()) + 1)).encode()[:size].decode(errors="ignore")


def _different(letters: str, size: int, seed: int) -> str:
    """Return words of three to eight letters that make no sense and were never met."""
    chance = random.Random(seed)
    words = ("".join(chance.choices(letters, k=chance.randint(3, 8))) for _ in range(size // 4))
    return " ".join(words)[:size]


def _median(run: Callable[[str], object], text: str, runs: int) -> float:
    return statistics.median(_times(run, text, runs))


def _times(run: Callable[[str], object], text: str, runs: int) -> list[float]:
    run(text)
    return [_cost(run, text) for _ in range(runs)]


def _cost(run: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    run(text)
    return time.process_time() - begin


if __name__ == "__main__":
    main()
