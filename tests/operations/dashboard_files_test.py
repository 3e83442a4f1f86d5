"""Dashboards as files: in step with what writes them, and by the rules of Grafana's dashboard linter and our own."""
import pathlib
import re
import subprocess
import sys
import unittest

import yaml

import dashboard_files as files
from promql import selectors

# Grafana's ids of units (its value formats) that we use.
UNITS = {
    "none",
    "string",
    "percent",
    "percentunit",
    "ms",
    "s",
    "currencyUSD",
    "bytes",
    "ops",
    "reqps",
    "celsius",
    "watt",
    "bool_yes_no",
    "dateTimeAsIso",
    "dateTimeFromNow",
}
NEEDS_UNIT = {"stat", "table", "timeseries", "gauge", "trend", "barchart", "state-timeline", "bargauge"}
DATA_SOURCES = {
    "prometheus": ("prometheus_datasource", "Prometheus data source"),
    "grafana-postgresql-datasource": ("postgresql_datasource", "PostgreSQL data source"),
}


def lint(dashboard):
    """What is wrong with a dashboard, by rule."""
    return [f"{rule.__name__}: {fault}" for rule in RULES for fault in rule(dashboard)]


def variables(dashboard, kind=None):
    return [one for one in dashboard["templating"]["list"] if kind in (None, one["type"])]


def template_datasource_rule(dashboard):
    found = variables(dashboard, "datasource")
    if not found:
        yield "no variable for a data source"
    for one in found:
        if (one["name"], one["label"]) != DATA_SOURCES.get(one["query"]):
            yield f"the variable {one['name']} ({one['label']}) is named otherwise than for {one['query']}"


def uses_prometheus(dashboard):
    return any(one["query"] == "prometheus" for one in variables(dashboard, "datasource"))


def template_job_and_instance_rule(dashboard):
    if not uses_prometheus(dashboard):
        return
    for name in ("job", "instance"):
        found = [one for one in variables(dashboard, "query") if one["name"] == name]
        if len(found) != 1:
            yield f"there is no variable {name}"
        elif (
            not found[0]["multi"]
            or not found[0]["includeAll"]
            or found[0]["allValue"] != ".+"
            or found[0]["label"] != name.capitalize()
            or found[0]["datasource"]["uid"] != "${prometheus_datasource}"
        ):
            yield f"the variable {name} does not take several values or all, or is labelled otherwise"


def template_label_promql_rule(dashboard):
    for where, query in files.label_queries(dashboard):
        match = re.fullmatch(r"label_values\((.+), ([a-z_]+)\)", query)
        if not match or len(selectors(match.group(1))) != 1:
            yield f"{where}: {query} is no label_values of a selector"


def template_on_time_change_reload_rule(dashboard):
    for one in variables(dashboard, "query"):
        if one["refresh"] != 2:
            yield f"the variable {one['name']} is not read again when the time changes"


def panel_datasource_rule(dashboard):
    allowed = {"${" + one["name"] + "}": one["query"] for one in variables(dashboard, "datasource")}
    for panel in files.panels(dashboard):
        for holder in [panel, *panel["targets"]]:
            source = holder["datasource"]
            if allowed.get(source["uid"]) != source["type"]:
                yield f"{panel['title']}: its data source {source} is no variable of the dashboard"
    for holder in [*variables(dashboard, "query"), *dashboard["annotations"]["list"]]:
        if allowed.get(holder["datasource"]["uid"]) != holder["datasource"]["type"]:
            yield f"{holder['name']}: its data source is no variable of the dashboard"


def panel_title_description_rule(dashboard):
    for panel in files.panels(dashboard):
        if not panel.get("title") or not panel.get("description"):
            yield f"panel {panel['id']} has no title or no description"


def panel_units_rule(dashboard):
    for panel in files.panels(dashboard):
        settings = panel["fieldConfig"]
        units = [settings["defaults"].get("unit")]
        units += [p["value"] for o in settings["overrides"] for p in o["properties"] if p["id"] == "unit"]
        if panel["type"] not in NEEDS_UNIT:
            yield f"{panel['title']}: panels of type {panel['type']} are not known here"
        if not set(units) <= UNITS:
            yield f"{panel['title']}: unknown unit among {units}"


def panel_no_targets_rule(dashboard):
    for panel in files.panels(dashboard):
        if not panel.get("targets"):
            yield f"{panel['title']} asks nothing"
        references = [target["refId"] for target in panel["targets"]]
        if len(set(references)) != len(references):
            yield f"{panel['title']}: two targets with one name"


def target_rate_interval_rule(dashboard):
    for where, expression in files.prometheus_expressions(dashboard):
        for _, _, span, around in selectors(expression):
            if span is not None and around[-1:] not in (["rate"], ["increase"], ["irate"]):
                yield f"{where}: a range outside rate and increase"
            if span is not None and span != "$__rate_interval":
                yield f"{where}: the range {span} is not $__rate_interval"


def target_job_and_instance_rule(dashboard):
    for where, expression in files.prometheus_expressions(dashboard):
        for metric, matchers, _, _ in selectors(expression):
            if 'job=~"$job"' not in matchers or 'instance=~"$instance"' not in matchers:
                yield f"{where}: {metric} is not chosen by job and instance"


def target_counter_agg_rule(dashboard):
    for where, expression in files.prometheus_expressions(dashboard):
        for metric, _, span, around in selectors(expression):
            if metric.endswith(("_total", "_bucket", "_sum", "_count")) and (
                span is None or not {"rate", "increase"} & set(around)
            ):
                yield f"{where}: the counter {metric} is drawn without rate or increase"


def uneditable_rule(dashboard):
    if dashboard.get("editable") is not False:
        yield "it can be edited"


# Ours from here.


def identity_rule(dashboard):
    if not re.fullmatch(r"warpsmith-[a-z]+", dashboard["uid"]) or dashboard["id"] is not None:
        yield "its uid is not stable"
    if dashboard["schemaVersion"] < 39:
        yield "its schema is old"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) != len(ids):
        yield "two panels with one id"


def missing_is_not_zero_rule(dashboard):
    for panel in files.panels(dashboard):
        settings = panel["fieldConfig"]
        if settings["defaults"].get("noValue") != "no data":
            yield f"{panel['title']}: what has no value is not called so"
        if (
            panel["type"] in ("timeseries", "trend", "state-timeline")
            and settings["defaults"]["custom"].get("spanNulls") is not False
        ):
            yield f"{panel['title']}: gaps are drawn over"
        if "nullValueMode" in str(panel) or "fillna" in str(panel).lower() or '"nullAsZero"' in str(panel):
            yield f"{panel['title']}: null as zero"
    for where, expression in files.prometheus_expressions(dashboard):
        if re.search(r"\bor\b|\bvector\(", expression):
            yield f"{where}: something else is drawn for what is missing"
    for where, statement in files.sql_expressions(dashboard):
        if re.search(r"coalesce\([^()]*, *0\)|\$__timeGroup\w*\([^()]*,[^()]*,", statement, re.IGNORECASE):
            yield f"{where}: zero is drawn for what is missing"


def layout_rule(dashboard):
    taken = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        if place["x"] + place["w"] > 24 or cells & taken:
            yield f"{panel['title']} lies over another panel or beyond the edge"
        taken |= cells


def kinds_of_device_rule(dashboard):
    """Whatever is a time or a ratio of kernels says in its title what it was timed on."""
    for panel in files.panels(dashboard):
        timed = [
            t
            for t in panel["targets"]
            if re.search(r"percent_of_eager|_percent\b|best_ms|median_ms|fast_1|ratio_to_eager", t.get("rawSql", ""))
        ]
        if timed and "$timed_on" not in panel["title"]:
            yield f"{panel['title']}: does not say what was timed"


def reader_views_rule(dashboard):
    for where, statement in files.sql_expressions(dashboard):
        tables = re.findall(r"\b(?:FROM|JOIN)\s+([a-z_]+)", re.sub(r"extract\(epoch FROM[^)]*\)", "", statement))
        local = re.findall(r"(?:WITH|,)\s+([a-z_]+) AS \(", statement)
        wrong = [t for t in tables if not t.startswith("view_") and t not in local and t not in ("generate_series",)]
        if wrong or "*" in re.sub(r"count\(\*\)|\b100 \*|/ \*", "", statement):
            yield f"{where}: reads {wrong or 'every column'}, not named columns of the reader's views"


RULES = [
    template_datasource_rule,
    template_job_and_instance_rule,
    template_label_promql_rule,
    template_on_time_change_reload_rule,
    panel_datasource_rule,
    panel_title_description_rule,
    panel_units_rule,
    panel_no_targets_rule,
    target_rate_interval_rule,
    target_job_and_instance_rule,
    target_counter_agg_rule,
    uneditable_rule,
    identity_rule,
    missing_is_not_zero_rule,
    layout_rule,
    kinds_of_device_rule,
    reader_views_rule,
]


class Files(unittest.TestCase):
    def test_dashboards_are_what_the_generator_writes(self):
        done = subprocess.run(
            [sys.executable, str(files.GRAFANA / "generate.py"), "--check"], capture_output=True, text=True
        )
        self.assertEqual(0, done.returncode, done.stderr)

    def test_five_dashboards_by_the_rules(self):
        dashboards = files.load()
        self.assertEqual(
            {"search.json", "batch.json", "fleet.json", "models.json", "queue-and-database.json"}, set(dashboards)
        )
        for name, dashboard in dashboards.items():
            with self.subTest(name):
                self.assertEqual([], lint(dashboard))
        self.assertEqual(5, len({dashboard["uid"] for dashboard in dashboards.values()}))

    def test_every_query_is_drawn(self):
        sys.path.insert(0, str(files.GRAFANA))
        sys.dont_write_bytecode = True
        from generator.panels import QUERIES

        drawn = {statement for dashboard in files.load().values() for _, statement in files.sql_expressions(dashboard)}
        self.assertEqual([], [name for name, statement in QUERIES.items() if statement not in drawn])

    def test_links_lead_to_dashboards_that_are_there(self):
        uids = {dashboard["uid"] for dashboard in files.load().values()}
        for path in (files.GRAFANA / "dashboards").glob("*.json"):
            for uid in re.findall(r'"/d/([^/"]+)/', path.read_text(encoding="utf-8")):
                self.assertIn(uid, uids)

    def test_rules_find_what_is_wrong(self):
        """Each rule on a dashboard that breaks it."""

        def broken(change):
            dashboard = files.load()["queue-and-database.json"]
            change(dashboard)
            return lint(dashboard)

        def panel(dashboard):
            return next(files.panels(dashboard))

        def expression(text):
            def change(dashboard):
                panel(dashboard)["targets"][0]["expr"] = text

            return change

        chosen = 'job=~"$job", instance=~"$instance"'
        cases = {
            "uneditable_rule": lambda d: d.update(editable=True),
            "identity_rule": lambda d: d.update(uid="x y"),
            "template_datasource_rule": lambda d: d["templating"]["list"][0].update(name="ds"),
            "template_job_and_instance_rule": lambda d: d["templating"]["list"].pop(2),
            "template_on_time_change_reload_rule": lambda d: d["templating"]["list"][2].update(refresh=1),
            "template_label_promql_rule": lambda d: d["templating"]["list"][2]["query"].update(
                query="label_values(job)"
            ),
            "panel_datasource_rule": lambda d: panel(d)["datasource"].update(uid="mine"),
            "panel_title_description_rule": lambda d: panel(d).update(description=""),
            "panel_units_rule": lambda d: panel(d)["fieldConfig"]["defaults"].update(unit="furlong"),
            "panel_no_targets_rule": lambda d: panel(d).update(targets=[]),
            "target_rate_interval_rule": expression("rate(x_total{%s}[5m])" % chosen),
            "target_job_and_instance_rule": expression("sum(x)"),
            "target_counter_agg_rule": expression("sum(x_total{%s})" % chosen),
            "missing_is_not_zero_rule": expression("sum(x{%s}) or vector(0)" % chosen),
            "layout_rule": lambda d: panel(d)["gridPos"].update(x=20),
            "kinds_of_device_rule": lambda d: panel(d)["targets"][0].update(
                rawSql="SELECT best_ms FROM view_search_status"
            ),
            "reader_views_rule": lambda d: d["annotations"]["list"][0]["target"].update(rawSql="SELECT * FROM search"),
        }
        self.assertEqual({rule.__name__ for rule in RULES}, set(cases))
        for rule, change in cases.items():
            with self.subTest(rule):
                self.assertTrue([fault for fault in broken(change) if fault.startswith(rule)])

    def test_selectors_of_an_expression(self):
        found = selectors(
            'sum by (le, kind) (rate(a_bucket{job=~"$job"}[$__rate_interval])) / on (job) group_left () (b:c > 0.5) '
            'unless max without (x) (d{e="by (f)"} offset 4h)'
        )
        self.assertEqual(
            [
                ("a_bucket", '{job=~"$job"}', "$__rate_interval", ["rate"]),
                ("b:c", "", None, []),
                ("d", '{e="by (f)"}', None, []),
            ],
            found,
        )


class Provisioning(unittest.TestCase):
    def test_data_sources_and_provider(self):
        sources = yaml.safe_load((files.GRAFANA / "provisioning/datasources/warpsmith.yaml").read_text())["datasources"]
        self.assertEqual({"prometheus", "grafana-postgresql-datasource"}, {one["type"] for one in sources})
        for one in sources:
            self.assertIs(one["editable"], False)
            self.assertTrue(one["uid"])
        self.assertEqual(
            [{"password": "$__file{/run/secrets/reader.password}"}],
            [one["secureJsonData"] for one in sources if "secureJsonData" in one],
        )
        documented = (files.GRAFANA / "README.md").read_text()
        provider = yaml.safe_load((files.GRAFANA / "provisioning/dashboards/warpsmith.yaml").read_text())["providers"][
            0
        ]
        self.assertIs(provider["allowUiUpdates"], False)
        self.assertIs(provider["disableDeletion"], True)
        self.assertIn(f"`{pathlib.Path(provider['options']['path'])}`", documented)


if __name__ == "__main__":
    unittest.main(verbosity=2)
