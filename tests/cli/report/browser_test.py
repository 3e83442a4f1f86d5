"""Pages of known reports and of a real search, in headless Chromium: at desktop and phone width, light and dark, on
paper, with scripts and without. Pictures go to WARPSMITH_PICTURES_DIR."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "integration"))
from chromium import Browser  # noqa: E402
from cluster import Cluster  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES = os.environ["WARPSMITH_PICTURES_DIR"]
DESKTOP, PHONE = (1280, 900), (390, 844)


# Judged in a second or two.
SMALL_PROBLEM = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(8, 64)]


def get_init_inputs():
    return []
"""


def text_of(path):
    with open(path, encoding="utf-8") as page:
        return page.read()


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(PICTURES, exist_ok=True)
        with open(HERE + "/page_checks.js") as script:
            cls.checks = script.read()
        cls.folder = tempfile.TemporaryDirectory(prefix="ws-pages-", dir="/tmp")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def look(self, path, name, size, dark, whole=True):
        browser = self.browser
        browser.open(path, *size, dark=dark)
        width = "phone" if size == PHONE else "desktop"
        with self.subTest(page=name, width=width, dark=dark):
            self.assertEqual([], browser.complaints())
            self.assertEqual(["file://" + path], browser.requests())
            self.assertEqual(size[0], browser.evaluate("innerWidth"))
            self.assertEqual([], browser.evaluate(self.checks))
            browser.picture(f"{PICTURES}/{name}-{width}-{'dark' if dark else 'light'}.png", whole)


class KnownPages(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([os.environ["WARPSMITH_TEST_DIR"] + "/report_pages", cls.folder.name], check=True)

    def path(self, name):
        return f"{self.folder.name}/{name}.html"

    def test_looks(self):
        for size in (DESKTOP, PHONE):
            for dark in (False, True):
                self.look(self.path("known"), "known", size, dark)
        for name in ("batch", "empty", "failed"):
            self.look(self.path(name), name, DESKTOP, False)
            self.look(self.path(name), name, PHONE, True)

    def test_everything_open_fits_too(self):
        for name in ("known", "batch", "hostile"):
            for size in (DESKTOP, PHONE):
                self.browser.open(self.path(name), *size, dark=True)
                self.browser.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
                with self.subTest(page=name, size=size):
                    self.assertEqual([], self.browser.evaluate(self.checks))
                    self.assertEqual([], self.browser.complaints())

    def test_hostile_text_does_nothing(self):
        self.look(self.path("hostile"), "hostile", PHONE, False)
        self.browser.open(self.path("hostile"), *DESKTOP)
        self.assertEqual("undefined", self.browser.evaluate("typeof window.hacked"))
        self.assertEqual(1, self.browser.evaluate("document.scripts.length"))
        self.assertEqual(0, self.browser.evaluate("document.querySelectorAll('img, iframe, object, link, [onmouseover]').length"))
        # The policy stops a script even if one got in.
        self.browser.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
        self.browser.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.hacked=1';"
                              " document.body.append(s); })()")
        self.assertEqual("undefined", self.browser.evaluate("typeof window.hacked"))
        self.assertEqual("refused", self.browser.evaluate(
            "fetch('https://example.invalid/').then(() => 'fetched', () => 'refused')"))
        self.assertEqual(["file://" + self.path("hostile")], self.browser.requests())

    def test_pointing_at_a_dot_tells_the_idea(self):
        self.browser.open(self.path("known"), *DESKTOP)
        place = self.browser.evaluate(
            "(() => { const dot = document.querySelector('.trajectory circle[data-tip^=\"a000000b\"]');"
            " dot.scrollIntoView({block: 'center'}); const box = dot.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        self.browser.move(*place)
        tip = self.browser.evaluate("document.querySelector('.trajectory .tip:not([hidden])').textContent")
        self.assertEqual("round 3: Two rows a block — a000000b · 0.5000 ms, 3.00×", tip)
        self.browser.move(5, 5)
        self.assertTrue(self.browser.evaluate("document.querySelector('.trajectory .tip').hidden"))
        self.browser.open(self.path("known"), *PHONE)
        self.assertEqual(5, self.browser.evaluate(
            "(() => { document.querySelector('button[data-fold=ideas]').click();"
            " return document.querySelectorAll('.tree details.idea[open]').length; })()"))

    def test_tables_sort_with_what_is_missing_last(self):
        self.browser.open(self.path("batch"), *DESKTOP)
        sort = ("(() => { const table = document.querySelector('#problems table'); table.tHead.rows[0].cells[2].click();"
                " return [...table.tBodies[0].rows].map((row) => row.cells[2].textContent); })()")
        falling = self.browser.evaluate(sort)
        self.assertEqual(["12.4×", "3.00×", "1.75×"], falling[:3])
        self.assertEqual(["–"] * 3, falling[-3:])
        rising = self.browser.evaluate(sort)
        self.assertEqual("0.82×", rising[0])
        self.assertEqual(["–"] * 3, rising[-3:])

    def test_a_link_opens_the_fold(self):
        self.browser.open(self.path("batch") + "#p7", *DESKTOP)
        self.assertTrue(self.browser.evaluate("document.getElementById('p7').closest('details').open"))

    def test_a_candidate_is_found_by_its_id(self):
        candidates = self.browser_ids()
        self.assertEqual(12, len(candidates))
        for number in (0, len(candidates) - 1):  # in the tree; its source
            self.browser.open(self.path("empty"), *DESKTOP)  # a link within the page would load nothing
            self.browser.open(self.path("known") + "#" + candidates[number], *DESKTOP)
            seen = ("(() => { const at = document.getElementById('%s'); const shown = at.tagName === 'LI' ? at :"
                    " at.nextElementSibling; const box = shown.getBoundingClientRect(); return box.height > 0 && box.top >= -1 &&"
                    " box.top < innerHeight; })()")
            self.assertTrue(self.browser.evaluate(seen % candidates[number]), candidates[number])

    def browser_ids(self):
        """Of the known search's candidates: of those in the tree alone, then of those whose source is shown."""
        self.browser.open(self.path("known"), *DESKTOP)
        return self.browser.evaluate(
            "[...document.querySelectorAll('.kernels li[id], details.kernel div[id]')].map((one) => one.id).sort((a, b) =>"
            " !!document.getElementById(a).closest('.kernel') - !!document.getElementById(b).closest('.kernel'))")

    def test_without_scripts_tables_and_plots_are_there(self):
        self.browser.open(self.path("known"), *PHONE, scripts=False)
        self.assertEqual([], self.browser.complaints())
        counts = self.browser.evaluate(
            "[document.querySelectorAll('table').length > 8, document.querySelectorAll('.trajectory circle.valid').length > 5,"
            " getComputedStyle(document.querySelector('.tools')).display, document.querySelectorAll('details.round').length]")
        self.assertEqual([True, True, "none", 3], counts)
        self.browser.picture(f"{PICTURES}/known-without-scripts.png")
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)

    def test_it_prints(self):
        self.browser.open(self.path("known"), *DESKTOP)
        data = self.browser.call("Page.printToPDF", printBackground=True)["data"]
        self.assertGreater(len(data), 50_000)

    def test_thirteen_thousand_candidates_stay_usable(self):
        begin = time.monotonic()
        self.browser.open(self.path("large"), *DESKTOP)
        self.assertEqual(13500, self.browser.evaluate("document.querySelectorAll('ul.kernels > li').length"))
        self.browser.evaluate("document.querySelector('details.round').open = true; document.body.offsetHeight")
        loaded = time.monotonic() - begin
        self.assertEqual([], self.browser.complaints())
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), DESKTOP[0])
        self.browser.picture(f"{PICTURES}/large-desktop-light.png")
        print(f"13,500 candidates: {os.path.getsize(self.path('large')) / 1e6:.1f} MB, usable after {loaded:.1f} s")
        self.assertLess(loaded, 30)


class RealSearch(PageCase):
    def test_a_search_on_the_emulated_device(self):
        with Cluster(workers=1) as cluster:
            file = self.folder.name + "/small.py"
            with open(file, "w") as out:
                out.write(SMALL_PROBLEM)
            batch = cluster.json("batch", "submit", file, "--rounds", "2", "--parents", "1", "--ideas", "1",
                                 "--implementations", "1", "--name", "small")
            search_id = batch["problems"][0]["search_id"]
            cluster.wait_for_end(search_id, 120)
            tree = cluster.json("tree", search_id)
            path = self.folder.name + "/real.html"
            told = cluster.cli("report", search_id[:8], "-o", path).stdout
            self.assertIn("wrote " + path, told)
            data = cluster.json("report", search_id)
            self.compare_search(tree, data, path)
            for size in (DESKTOP, PHONE):
                for dark in (False, True):
                    self.look(path, "real", size, dark)

            # In a folder a page has the name that dashboards link to.
            cluster.cli("report", search_id[:8], "-o", self.folder.name)
            self.assertTrue(os.path.exists(f"{self.folder.name}/{search_id}.html"))

            path = self.folder.name + "/batch-of-one.html"
            cluster.cli("report", batch["id"], "-o", path)
            self.compare_batch(cluster.json("batch", "show", batch["id"]), path)
            self.look(path, "real-batch", DESKTOP, False)

            missing = cluster.cli("report", "zzzzzzzz", check=False)
            self.assertEqual(3, missing.returncode)
            self.assertIn("no search and no batch has the id zzzzzzzz", missing.stderr)
            nowhere = cluster.cli("report", search_id, "-o", "/nonexistent/report.html", check=False)
            self.assertNotEqual(0, nowhere.returncode)
            self.assertIn("/nonexistent", nowhere.stderr)

    def compare_search(self, tree, data, path):
        """The page's figures are those that `tree` gives."""
        page = html.unescape(text_of(path))
        search = tree["search"]
        for key in ("best_ms", "best_ratio_to_eager", "rounds", "best_candidate_id", "usage"):
            self.assertEqual(search[key], data["search"][key], key)
        self.assertEqual(tree["best_lineage"], data["best_lineage"])
        candidates = [c for idea in tree["ideas"] for c in idea["candidates"]]
        self.assertEqual([c["id"] for c in candidates], [c["id"] for idea in data["ideas"] for c in idea["candidates"]])
        self.assertEqual(len(candidates), page.count("<li class="))
        self.assertEqual(data["best_lineage"], [kernel["id"] for kernel in data["kernels"]])
        self.assertTrue(all("warpsmith-plan" in kernel["source"] for kernel in data["kernels"]))
        self.assertEqual(search["usage"]["model_calls"], sum(calls["calls"] for calls in data["calls"]))
        for idea in tree["ideas"]:
            self.assertIn(idea["idea"]["title"], page)
        correct = [c for c in candidates if c["evaluation"]["outcome"] == "OUTCOME_OK"]
        self.assertTrue(correct)
        for candidate in correct:
            ratio = candidate["evaluation"]["ratio_to_eager"]
            digits = 0 if ratio >= 99.95 else 1 if ratio >= 9.995 else 2 if ratio >= 0.0995 else 4
            self.assertIn(f"{candidate['id'][:8]} · ", page)
            self.assertRegex(page, re.escape(candidate["id"][:8]) + r" · [^\"]* ms, " + re.escape(f"{ratio:.{digits}f}×"))
        self.assertIn("say nothing of a GPU", page)
        self.assertIn(search["id"], page)

    def compare_batch(self, batch, path):
        page = html.unescape(text_of(path))
        totals = batch["totals"]
        self.assertEqual(1, totals["solved"])
        for key, name in (("fast_1", "fast_1"), ("fast_1_5", "fast_1.5"), ("fast_2", "fast_2")):
            self.assertIn(f"<dt>{name}</dt><dd><b>{totals[key]:.3f}</b>", page)
        self.assertIn("Geometric mean over the 1 that have a kernel", page)


if __name__ == "__main__":
    os.chdir("/")
    unittest.main(verbosity=2)
