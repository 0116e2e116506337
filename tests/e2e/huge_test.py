"""Half a gigabyte of input: read whole where it can be read, refused with a reason where not."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import unittest
from pathlib import Path

from support import BUILD, ROOT, new_folder

SIZE = 500_000_000


class Huge(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = new_folder()
        self.addCleanup(shutil.rmtree, self.folder)

    def replay(self, file: Path, *argv: str, memory: int = 6 << 30) -> subprocess.CompletedProcess[str]:
        def cap() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

        argv = (str(BUILD / "bin" / "fairlead"), "replay", str(file), *argv)
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, preexec_fn=cap)

    def write_dump(self, file: Path) -> int:
        """A dump of `sacct --json` with as many jobs as go into SIZE; returns how many."""
        dump = json.loads((ROOT / "tests" / "data" / "sacct" / "24.11.json").read_text())
        jobs = [json.dumps({**job, "job_id": -1}) for job in dump["jobs"] if not job["array"]["job_id"]]
        written = count = 0
        with file.open("w") as out:
            out.write('{"jobs":[')
            while written < SIZE:
                count += 1
                text = jobs[count % len(jobs)].replace('"job_id": -1', f'"job_id": {count}')
                written += out.write(text if count == 1 else "," + text)
            out.write("]}")
        return count

    def test_a_dump_is_read_whole(self) -> None:
        count = self.write_dump(self.folder / "dump.json")
        done = self.replay(self.folder / "dump.json", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{count:,} rows", done.stdout)

    def test_a_dump_that_is_cut_keeps_what_is_whole(self) -> None:
        count = self.write_dump(self.folder / "dump.json")
        with (self.folder / "dump.json").open("r+b") as file:
            file.truncate(SIZE - 700)
        done = self.replay(self.folder / "dump.json", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cut off", done.stdout)
        self.assertGreater(count, 100_000)

    def test_more_than_there_is_memory_for_is_said(self) -> None:
        self.write_dump(self.folder / "dump.json")
        done = self.replay(self.folder / "dump.json", memory=2 << 30)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("memory", done.stderr)

    def test_what_is_nothing_is_refused(self) -> None:
        with (self.folder / "nothing").open("w") as out:
            for _ in range(500):
                out.write("x" * 1_000_000)
        done = self.replay(self.folder / "nothing")
        self.assertEqual(done.returncode, 5, done.stderr[:500])
        self.assertLess(len(done.stderr), 1000)


if __name__ == "__main__":
    unittest.main()
