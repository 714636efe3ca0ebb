"""The development conversations as JSON lines for `gitmem import`, with their sessions and dates.

    python benchmarks/locomo.py FOLDER/locomo/locomo-dev.json OUT

Writes one file for each conversation into OUT.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path


def lines(conversation: dict[str, object], source: str) -> Iterator[dict[str, object]]:
    """Yield the messages of a conversation as import lines; a minute lies between two messages."""
    first = conversation["speaker_a"]
    number = 1
    while f"session_{number}" in conversation:
        date = str(conversation[f"session_{number}_date_time"])
        began = datetime.strptime(f"{date} +0000", "%I:%M %p on %d %B, %Y %z")
        for count, turn in enumerate(conversation[f"session_{number}"]):  # type: ignore[arg-type, var-annotated]
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield {
                "kind": "message",
                "role": "user" if turn["speaker"] == first else "assistant",
                "author": turn["speaker"],
                "text": f"{turn['text']}{caption}",
                "ts": (began + timedelta(minutes=count)).isoformat(),
                "session": f"session-{number}",
                "source": source,
                "source_id": turn["dia_id"],
            }
        number += 1


def main() -> None:
    """Write the files."""
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for item in json.loads(source.read_text("utf-8")):
        path = out / f"{item['sample_id']}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for line in lines(item["conversation"], f"locomo-{item['sample_id']}"):
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        print(path)


if __name__ == "__main__":
    main()
