"""Write the files that follow from the code: `python -m tests.contract.update` (from the root).

That is the snapshot of the OpenAPI document and `.env.example`. Changes that break clients are refused
unless `--breaking` is given: then the next version must say so.
"""

import json
import sys

from tests.contract import document, env_example
from tests.contract.compatibility import breaks


def main() -> int:
    """Write both; return the exit status."""
    new = document.current()
    broken = breaks(document.snapshot(), new) if document.SNAPSHOT.exists() else []
    for line in broken:
        print(line)
    if broken and "--breaking" not in sys.argv[1:]:
        print("These break clients. Nothing was written; --breaking writes it all the same.")
        return 1
    text = json.dumps(new, indent=2, ensure_ascii=False, sort_keys=True)
    document.SNAPSHOT.write_text(text + "\n", encoding="utf-8")
    env_example.FILE.write_text(env_example.render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
