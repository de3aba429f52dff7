"""The pages about this client are true: each block of Python runs, and prints what the ``text`` block after it shows.

The blocks of a page run in their order, in one program. ``…`` stands for anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path

from support import Practice, order, settings

root = Path(settings["root"])
pages = ("clients/python/README.md", "docs/integrate/sdk-python.md")
example = "http://127.0.0.1:8080/sandbox/firm/maple/pm/fhir/v2"
_block = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)


class Documentation(unittest.TestCase):
    def setUp(self) -> None:
        self.practice = Practice(patients=5, hasCalendar=True)
        order("settle")
        directory = self.enter(tempfile.TemporaryDirectory())
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(directory)

    def enter(self, context: contextlib.AbstractContextManager[str]) -> str:
        entered = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return entered

    def test_each_page(self) -> None:
        for page in pages:
            with self.subTest(page):
                self.run_page(page)

    def run_page(self, page: str) -> None:
        text = (root / page).read_text("utf-8")
        blocks = _block.findall(text)
        self.assertGreater(len(blocks), 4)
        names: dict[str, object] = {"__name__": "page"}
        printed = ""
        for language, block in blocks:
            if language == "text":
                pattern = ".*".join(map(re.escape, block.strip().split("…")))
                self.assertRegex(printed.strip(), re.compile(f"^{pattern}$", re.S))
                printed = ""
                continue
            self.assertEqual(printed, "", f"before {block}")
            order("settle")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(self.fill_in(block), f"{page}: {block.splitlines()[0]}", "exec"), names)
            printed = output.getvalue()
        self.assertEqual(printed, "")
        for value in names.values():
            if type(value).__name__ == "Client":
                value.close()

    def fill_in(self, block: str) -> str:
        block = block.replace(example, self.practice.base)
        for kind, given in (
            ("ClientCredentials", self.practice.credentials),
            ("PasswordGrant", self.practice.password),
        ):
            block = re.sub(
                rf"{kind}\((.*?)\)",
                lambda match, given=given, kind=kind: f"{kind}({self.fill_in_fields(match[1], given)})",
                block,
                flags=re.S,
            )
        return block

    def fill_in_fields(self, fields: str, given: object) -> str:
        return re.sub(r'(\w+)="…"', lambda match: f"{match[1]}={getattr(given, match[1])!r}", fields)
