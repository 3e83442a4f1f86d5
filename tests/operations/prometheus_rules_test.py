"""Scrape configuration, recording rules and alarms: by promtool, and against what is documented."""
import json
import pathlib
import re
import subprocess
import unittest

import yaml

import dashboard_files as files
from promql import selectors

ALARMS = {
    "QueueStalled",
    "NoValidKernels",
    "NoImprovement",
    "RescueRateHigh",
    "GpuQuarantined",
    "GpuThrottled",
    "LlmErrors",
    "SpendRateHigh",
    "DiskFilling",
    "CoordinatorAbsent",
}
RULES = sorted((files.PROMETHEUS / "rules").glob("*.rules.yml"))


def rules(kind):
    return [
        rule
        for path in RULES
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
        if kind in rule
    ]


def documented_metrics():
    """Names of docs/metrics.md and their type."""
    text = (files.SOURCE / "docs" / "metrics.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(warpsmith_[a-z_]+)` \| (counter|gauge|histogram) \|", text, re.MULTILINE))


def promtool(test, *arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    test.assertEqual(0, done.returncode, done.stdout + done.stderr)


def anchors(path):
    """Anchors of a Markdown file's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Promtool(unittest.TestCase):
    def test_configuration(self):
        promtool(self, "check", "config", files.PROMETHEUS / "prometheus.yml")

    def test_rules(self):
        promtool(self, "check", "rules", "--lint-fatal", *RULES)

    def test_alarms_fire_where_they_must_and_only_there(self):
        promtool(self, "test", "rules", *sorted((files.PROMETHEUS / "tests").glob("*.test.yml")))


class Rules(unittest.TestCase):
    def test_every_alarm_is_there_and_has_what_a_person_needs(self):
        self.assertEqual(ALARMS, {rule["alert"] for rule in rules("alert")})
        for rule in rules("alert"):
            with self.subTest(rule["alert"]):
                self.assertRegex(rule["for"], r"^\d+[mh]$")
                self.assertIn(rule["labels"]["severity"], ("info", "warning", "critical"))
                self.assertEqual({"summary", "description", "runbook_url"}, set(rule["annotations"]))
                page, anchor = rule["annotations"]["runbook_url"].split("#")
                self.assertEqual(rule["alert"].lower(), anchor)
                self.assertIn(anchor, anchors(files.SOURCE / page))

    def test_every_alarm_is_tested_both_ways(self):
        text = "".join(path.read_text(encoding="utf-8") for path in (files.PROMETHEUS / "tests").glob("*.test.yml"))
        for alarm in ALARMS:
            self.assertRegex(text, rf'ALERTS{{alertname="{alarm}", alertstate="firing", .*value: 1')

    def test_recording_rules_are_named_by_level_metric_and_operation(self):
        for rule in rules("record"):
            level, metric, operations = rule["record"].split(":")
            self.assertTrue(level and operations)
            self.assertIn(metric.split("_")[0], ("warpsmith",))
            self.assertNotRegex(rule["expr"], r"\bby \(")

    def test_metrics_are_those_that_are_documented(self):
        known = documented_metrics()
        self.assertGreater(len(known), 40)
        recorded = {rule["record"] for rule in rules("record")}
        expressions = [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules("expr")]
        for dashboard in files.load().values():
            expressions += files.prometheus_expressions(dashboard)
            expressions += [
                (where, re.match(r"label_values\((.+), ", query).group(1))
                for where, query in files.label_queries(dashboard)
            ]
        for where, expression in expressions:
            for metric, matchers, _, _ in selectors(expression):
                if not metric and "warpsmith_(worker_)?build_info" in matchers:
                    continue
                base = re.sub(r"_(bucket|sum|count)$", "", metric)
                fits = metric in recorded or metric == "up" or metric in known or known.get(base) == "histogram"
                self.assertTrue(fits, f"{where}: {metric} is not in docs/metrics.md")

    def test_jobs_and_ports_are_those_of_the_compose_file(self):
        config = yaml.safe_load((files.PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8"))
        jobs = {job["job_name"]: job for job in config["scrape_configs"]}
        targets = {name: jobs[name]["static_configs"][0]["targets"] for name in ("coordinator", "gateway")}
        pattern = jobs["worker"]["file_sd_configs"][0]["files"][0]
        targets["worker"] = [
            target
            for path in pathlib.Path(files.PROMETHEUS).glob(pattern)
            for group in json.loads(path.read_text(encoding="utf-8"))
            for target in group["targets"]
        ]
        services = yaml.safe_load((files.SOURCE / "deploy/compose/compose.yaml").read_text(encoding="utf-8"))[
            "services"
        ]
        for name, addresses in targets.items():
            ports = re.findall(r"--metrics-address=[^:]*:(\d+)", str(services[name]["command"]))
            self.assertEqual([f"{name}:{port}" for port in ports], addresses)


if __name__ == "__main__":
    unittest.main(verbosity=2)
