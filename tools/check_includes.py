#!/usr/bin/env python3
"""Reads src/modules.txt and refuses an #include that goes against it, naming file and line."""
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
IMPURE = re.compile(r'^\s*#\s*include\s+<(thread|mutex|fstream|iostream|random|sys/.*|unistd\.h|boost/asio.*)>')


def read_modules(path: Path) -> tuple[dict[str, set[str]], set[str]]:
    """Returns for each module all it may include, and the set of pure modules."""
    may: dict[str, set[str]] = {}
    pure: set[str] = set()
    section = "pure"
    for number, raw in enumerate(path.read_text().splitlines(), 1):
        line = raw.split("#")[0].strip()
        if line in ("pure", "edge"):
            section = line
        if ":" not in line:
            continue
        name, names = (part.strip() for part in line.split(":")[:2])
        allowed = {name}
        for other in names.split():
            if other not in may:
                sys.exit(f"{path}:{number}: error: '{other}' stands above '{name}' or is not a module")
            allowed |= may[other]
        may[name] = allowed
        if section == "pure":
            pure.add(name)
    return may, pure


def module_of(path: str, modules: dict[str, set[str]]) -> str | None:
    return max((m for m in modules if path.startswith(m + "/")), key=len, default=None)


def check(source: Path, root: Path, may: dict[str, set[str]], pure: set[str]) -> list[str]:
    name = source.relative_to(root / "src").as_posix()
    own = module_of(name, may)
    if own is None:
        return [f"{source}:1: error: no module of src/modules.txt holds this file"]
    problems = []
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        place = f"{source.relative_to(root)}:{number}"
        if own in pure and not name.endswith("_test.cc") and (m := IMPURE.match(line)):
            problems.append(f"{place}: error: '{own}' is pure and may not include <{m[1]}>")
        if not (m := INCLUDE.match(line)):
            continue
        other = module_of(m[1], may)
        if other is None and (source.parent / m[1]).exists():
            problems.append(f"{place}: error: include \"{m[1]}\" by its path from src/")
        elif other is not None and other not in may[own]:
            problems.append(f"{place}: error: '{own}' may not include '{other}'  (src/modules.txt)")
    return problems


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    may, pure = read_modules(root / "src" / "modules.txt")
    files = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cc"))
    problems = [p for f in files for p in check(f, root, may, pure)]
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
