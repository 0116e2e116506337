#!/usr/bin/env python3
"""Writes assets.S and assets.cc for the files of a directory: embed_assets.py DIR OUT

Each file goes in as it is and, where that saves a tenth or more, as gzip. The same files give the same
bytes. src/api/assets.h declares the table, which is sorted by path.
"""
import gzip
import hashlib
import sys
from pathlib import Path

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml", ".json": "application/json", ".txt": "text/plain; charset=utf-8", ".png": "image/png",
         ".ico": "image/x-icon", ".woff2": "font/woff2", ".wasm": "application/wasm"}


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(source: Path, out: Path):
    out.mkdir(parents=True, exist_ok=True)
    assembly, declared, rows = ['  .section .rodata.assets,"a",@progbits'], [], []
    for number, file in enumerate(sorted(f for f in source.rglob("*") if f.is_file())):
        raw = file.read_bytes()
        packed = gzip.compress(raw, 9, mtime=0)
        parts = {"raw": file.resolve()}
        if len(packed) <= len(raw) * 9 // 10:
            parts["gzip"] = (out / f"{number}.gz").resolve()
            parts["gzip"].write_bytes(packed)
        for kind, path in parts.items():
            name = f"fairlead_asset_{number}_{kind}"
            assembly += [f"  .balign 16\n  .global {name}_begin, {name}_end\n{name}_begin:\n  .incbin {quoted(str(path))}\n{name}_end:\n  .byte 0"]
            declared.append(f"extern const char {name}_begin[], {name}_end[];")
        spans = [f"{{fairlead_asset_{number}_{k}_begin, fairlead_asset_{number}_{k}_end}}" if k in parts else "{}" for k in ("raw", "gzip")]
        etag = quoted('"' + hashlib.sha256(raw).hexdigest()[:20] + '"')
        path = "/" + file.relative_to(source).as_posix()
        rows.append(f"      {{.path = {quoted(path)}, .type = {quoted(TYPES.get(file.suffix, 'application/octet-stream'))}, .etag = {etag},\n"
                    f"       .raw = {spans[0]}, .gzip = {spans[1]}}},")
    assembly.append('  .section .note.GNU-stack,"",@progbits\n')
    (out / "assets.S").write_text("\n".join(assembly))
    (out / "assets.cc").write_text("""#include "api/assets.h"

extern "C" {
%s
}

namespace fairlead {

std::span<const Asset> assets() {
  static const Asset kAssets[] = {
%s
  };
  return kAssets;
}

}  // namespace fairlead
""" % ("\n".join(declared), "\n".join(rows)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
