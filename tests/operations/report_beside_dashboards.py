#!/usr/bin/env python3
"""The page of `warpsmith report` beside what the dashboards' own SQL answers for the same search or batch.

    report_beside_dashboards.py SEARCH|BATCH --database "host=... user=grafana dbname=warpsmith" --output FOLDER

writes FOLDER/ID.html, the page; FOLDER/ID.md, each figure of the page, the panel that shows it and what the panel's
query answers; and, where Chromium is there, FOLDER/ID.png, both in one picture. It fails where two figures differ.
`warpsmith` is taken from the PATH and finds the coordinator as ever (WARPSMITH_COORDINATOR, WARPSMITH_TLS_CA,
WARPSMITH_TOKEN_FILE). Run it on what has ended, since the two are read one after the other.
"""
import argparse
import base64
import csv
import html
import io
import json
import os
import re
import subprocess
import sys

import dashboard_files as files
from report_page import ReportPage, ms_text, ratio_text, seconds_text, usd_text

sys.path.insert(0, str(files.SOURCE / "tests" / "cli" / "report"))
from chromium import Browser  # noqa: E402

SIZE = (1900, 1000)  # of the picture at least
PAGE_WIDTH = 1120


class Figure:
    """One figure: what the page says, which panel says it too, what that panel's query answers, written alike."""

    def __init__(self, name, page, panel, answer):
        self.name, self.page, self.panel, self.answer = name, page, panel, answer

    def row(self):
        return [self.name, self.page, self.panel, self.answer]


def queries(title):
    """SQL of a dashboard's panels by their titles."""
    dashboard = next(one for one in files.load().values() if one["title"] == title)
    return {panel["title"]: panel["targets"][0]["rawSql"] for panel in files.panels(dashboard)
            if "rawSql" in panel["targets"][0]}


def panel_name(title):
    return re.sub(r" \(\$timed_on.*\)$", "", title)


class Panels:
    """Answers of a dashboard's panels. `ask`: runs a statement with Grafana's variables."""

    def __init__(self, dashboard, ask):
        self.title, self.statements, self.ask = dashboard, queries(dashboard), ask

    def __call__(self, name):
        """Rows of the panel of this title, with what it was timed on or without; and its name."""
        title = name if name in self.statements else next(t for t in self.statements if panel_name(t) == name)
        return self.ask(self.statements[title]), panel_name(name)


# A query's answer, a text or None, as the page writes it.


def number(text):
    return 0 if text is None else float(text)


def percent(text):
    return ratio_text(number(text) / 100)


def milliseconds(text):
    return ms_text(number(text))


def count(text):
    return f"{int(text or 0):,}"


def search_figures(page, panels):
    found = []

    def add(name, shown, panel, answer):
        found.append(Figure(name, shown, panel, answer))

    (best,), panel = panels("Best kernel, % of PyTorch eager")
    add("best kernel's ratio", page.tiles["", "to PyTorch eager"][0], panel, percent(best["best kernel"]))
    (times,), panel = panels("Best kernel and PyTorch eager")
    add("best kernel's time", page.tiles["", "best kernel"][0], panel, milliseconds(times["best kernel"]))
    add("PyTorch eager's time", page.tiles["", "to PyTorch eager"][1], panel, milliseconds(times["PyTorch eager"]))

    rounds, panel = panels("Best so far and spread per round, % of PyTorch eager")
    funnels, funnel_panel = panels("Funnel per round")
    shown = page.tables.get("Speedup per round", [])
    add("rounds", count(len(shown)), panel, count(len(rounds)))
    for row, answer, counts in zip(shown, rounds, funnels):
        name = f"round {row['round']}: "
        add(name + "best so far", row["to eager"], panel, percent(answer["best so far"]))
        for column in ("ideas", "generated", "compiled", "correct", "faster"):
            add(name + column, row[column], funnel_panel, count(counts[column]))
    (funnel,), panel = panels("Funnel of all rounds")
    steps = {row["candidates"]: row[""] for row in page.tables.get("From candidates to faster kernels", [])}
    for name, column in (("with a file in the reply", "generated"), ("compiled", "compiled"), ("correct", "correct")):
        add(f"funnel: {name}", steps.get(name, "0"), panel, count(funnel[column]))
    add("faster than before their round", count(sum(int(row["faster"].replace(",", "")) for row in shown)), panel,
        count(funnel["faster"]))

    trajectory, panel = panels("Trajectory")
    for step, row in enumerate(trajectory, 1):
        begin = row["candidate"][:8] + " · "
        tips = [tip.removeprefix(begin) for tip in page.tips if tip.startswith(begin)]
        add(f"new best {step}, of round {row['round']}", ", ".join(tips), panel,
            f"{milliseconds(row['time'])}, {percent(row['% of eager'])}")
    lineage, panel = panels("Lineage of the best kernel")
    steps = page.tables.get("From PyTorch to the best kernel", [])[1:]  # the first is PyTorch
    add("steps of the lineage", count(len(steps)), panel, count(len(lineage)))
    for step, (row, answer) in enumerate(zip(steps, lineage), 1):
        add(f"lineage, step {step}", f"{row['idea']}: {row['time']}, {row['to eager']}", panel,
            f"{answer['idea']}: {milliseconds(answer['time'])}, {percent(answer['% of eager'])}")

    failures, panel = panels("Failures by reason")
    shown = {row["what happened"]: row["candidates"] for row in page.tables.get("By class, most frequent first", [])}
    for row in failures:
        name = "rejected" if row["class"] == "no candidate" else row["class"]
        name += f" ({row['reason']})" if row["reason"] else ""
        add(f"failed: {name}", shown.pop(name, "–"), panel, count(row["candidates"]))
    for name, candidates in shown.items():
        add(f"failed: {name}", candidates, panel, "–")

    baselines, panel = panels("PyTorch's own times")
    labels = {"eager": "PyTorch eager", "eager_tf32_off": "PyTorch eager, TF32 off",
              "eager_graph": "PyTorch eager as a CUDA graph", "compile_default": "torch.compile",
              "compile_max_autotune": "torch.compile max-autotune", "library": "the library call"}
    shown = {row["measured against"]: row for row in page.tables.get("What the best kernel is measured against", [])}
    for row in baselines:
        label = labels.get(row["baseline"], row["baseline"])
        told = shown.get(label, {"its time": "", "best kernel to it": ""})
        add(f"{label}: time", told["its time"], panel, milliseconds(row["time"]))
        add(f"best kernel to {label}", told["best kernel to it"], panel, percent(row["best kernel, % of it"]))

    (spent,), panel = panels("Spent on models")
    add("spent on models", page.tiles["cost", "dollars"][0], panel, usd_text(number(spent["spent"])))
    (seconds,), panel = panels("Device time")
    name = next(name for section, name in page.tiles if section == "cost" and "seconds" in name)
    add(name, page.tiles["cost", name][0], panel, seconds_text(number(seconds["in all"])))
    return found


def batch_figures(page, panels):
    found = []

    def add(name, shown, panel, answer):
        found.append(Figure(name, shown, panel, answer))

    (numbers,), panel = panels("Problems")
    add("problems", page.tiles["", "problems"][0], panel, count(numbers["problems"]))
    add("ended", page.tiles["", "problems"][1].removesuffix(" ended"), panel, count(numbers["ended"]))
    add("with a correct kernel", page.tiles["", "with a correct kernel"][0], panel, count(numbers["solved"]))
    failed = page.tiles["", "with a correct kernel"][1]
    add("failed", failed.split(" ")[0] or "0", panel, count(numbers["failed"]))
    (fast,), panel = panels("fast_p of all problems")
    for name in ("fast_1", "fast_1.5", "fast_2"):
        add(name, page.tiles["", name][0], panel, f"{number(fast[name]):.3f}")
    curve, panel = panels("fast_p over p, share of all problems")
    shares = {round(number(row["p"]), 2): number(row["share of all problems"]) for row in curve}
    told = page.tables["fast_p at four values of p"][0]
    for p in (0, 1, 1.5, 2):
        add(f"curve at p = {p:g}", told[f"fast_{p:g}"], panel, f"{shares[p]:.3f}")
    (mean,), panel = panels("Geometric mean, % of PyTorch eager, only problems with a kernel")
    add("geometric mean", page.tiles["", "geometric mean"][0], panel, percent(mean["geometric mean"]))

    cells, panel = panels("Best so far by problem and round, % of PyTorch eager")
    shown = page.tables.get("Best kernel so far after each round, to PyTorch eager", [])
    rows = {row["problem"]: row for row in shown}
    for cell in cells:
        problem, round_ = cell["problem"].rsplit(" ", 1)[0], cell["round"]
        row = next((row for name, row in rows.items() if name.split("/")[-1] == problem), {})
        add(f"{problem}, round {round_}", row.get(round_, ""), panel, percent(cell["best_so_far_percent"]))
    problems, panel = panels("Problems ($timed_on, or not timed yet)")
    rows = {row["problem"].split("/")[-1]: row for row in page.tables["Every problem"]}
    for answer in problems:
        row = rows[answer["problem"]]
        add(f"{answer['problem']}: best", f"{row['best']}, {row['to eager']}", panel,
            f"{milliseconds(answer['best'])}, {percent(answer['% of eager'])}")
        add(f"{answer['problem']}: cost", f"{row['cost']}, {row['GPU s']} s", panel,
            f"${number(answer['cost']):.2f}, {seconds_text(number(answer['device']))} s")

    (cost,), panel = panels("Spent on models")
    add("spent on models", page.tiles["cost", "dollars"][0], panel, f"${number(cost['US dollars']):.2f}")
    (seconds,), panel = panels("Device time")
    name = next(name for section, name in page.tiles
                if section == "cost" and name in ("GPU seconds", "device seconds (emulated)"))
    add(name, page.tiles["cost", name][0], panel, seconds_text(number(seconds["seconds"])))
    return found


HEADINGS = ("figure", "the page says", "panel", "its query answers")


def markdown(title, figures):
    lines = [f"# {title}", "", "| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in figure.row()) + " |" for figure in figures]
    return "\n".join(lines) + "\n"


PICTURE = """<!DOCTYPE html><meta charset="utf-8"><title>{title}</title><style>
body {{ margin: 0; display: grid; grid-template-columns: {width}px 1fr; font: 13px/1.35 "DejaVu Sans", sans-serif; color: #222 }}
img {{ width: {width}px; align-self: start; border-right: 1px solid #bbb }}
table {{ border-collapse: collapse; width: 100% }} main {{ padding: 14px }} h1 {{ font-size: 17px; margin: 0 0 8px }}
td, th {{ text-align: left; padding: 2px 6px; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere }}
td:nth-child(3) {{ color: #555 }} .differs td {{ background: #fbb }}</style>
<img src="data:image/png;base64,{image}"><main><h1>{title}</h1><table><tr>{headings}</tr>{rows}</table></main>"""


def picture(browser, page_file, title, figures, target, height=1500):
    """Both in one picture: the page's beginning on the left, the queries' answers on the right."""
    left = target + ".page.png"
    browser.open(page_file, PAGE_WIDTH, height)
    browser.picture(left)
    with open(left, "rb") as image:
        data = base64.b64encode(image.read()).decode()
    os.remove(left)
    rows = "".join(f'<tr class="{"" if figure.page == figure.answer else "differs"}">' +
                   "".join(f"<td>{html.escape(cell)}</td>" for cell in figure.row()) + "</tr>" for figure in figures)
    text = PICTURE.format(title=html.escape(title), width=PAGE_WIDTH, image=data, rows=rows,
                          headings="".join(f"<th>{heading}</th>" for heading in HEADINGS))
    beside = target + ".html"
    with open(beside, "w", encoding="utf-8") as out:
        out.write(text)
    browser.open(beside, SIZE[0], max(SIZE[1], height))
    browser.picture(target, whole=True)
    os.remove(beside)


def differing(figures):
    return [figure.row() for figure in figures if figure.page != figure.answer]


def compare(subject, page_file, ask):
    """(title, figures) of a page. `subject`: search or batch; `ask`: a statement's rows."""
    page = ReportPage(page_file)
    dashboard = {"search": "warpsmith / Search", "batch": "warpsmith / Batch"}[subject]
    figures = (search_figures if subject == "search" else batch_figures)(page, Panels(dashboard, ask))
    return f"warpsmith report beside the dashboard {dashboard}", figures


def write(subject, page_file, ask, target, browser=None):
    """TARGET.md, and TARGET.png with a browser; the figures."""
    title, figures = compare(subject, page_file, ask)
    with open(target + ".md", "w", encoding="utf-8") as out:
        out.write(markdown(title, figures))
    if browser:
        picture(browser, page_file, title, figures, target + ".png")
    return figures


def rows_of(database, statement):
    done = subprocess.run(["psql", database, "-X", "--csv", "-v", "ON_ERROR_STOP=1", "-P", "null=\\N", "-c", statement],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return [{key: None if value == "\\N" else value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(done.stdout))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("id", help="of a search or a batch, or its first 6 characters or more")
    parser.add_argument("--database", required=True, help="libpq's conninfo of a reader's role")
    parser.add_argument("--output", required=True, help="an existing folder")
    given = parser.parse_args()
    data = json.loads(subprocess.run(["warpsmith", "report", given.id, "--json"], check=True, capture_output=True,
                                     text=True).stdout)
    subject = "batch" if "batch" in data else "search"
    whole = data[subject]["id"]
    folder = os.path.abspath(given.output)
    subprocess.run(["warpsmith", "report", whole, "-o", folder], check=True)
    emulated = data["batch"].get("totals", {}).get("emulated") if subject == "batch" else data["search"].get("emulated")
    variables = {subject: whole, "timed_on": "emulated device" if emulated else "GPU"}

    def ask(statement):
        for name, value in variables.items():
            statement = statement.replace("${" + name + ":sqlstring}", "'" + value.replace("'", "''") + "'")
        return rows_of(given.database, statement)

    browser = None
    try:
        browser = Browser()
    except AssertionError as missing:
        print(missing, file=sys.stderr)
    figures = write(subject, f"{folder}/{whole}.html", ask, f"{folder}/{whole}", browser)
    if browser:
        browser.close()
    print(f"{len(figures)} figures, {len(differing(figures))} differ: {folder}/{whole}.md")
    for row in differing(figures):
        print("  " + " | ".join(row))
    return 1 if differing(figures) else 0


if __name__ == "__main__":
    sys.exit(main())
