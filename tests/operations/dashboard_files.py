"""Dashboards as files: loading them, and walking over their panels, targets, variables and annotations."""
import json
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
GRAFANA = SOURCE / "deploy" / "grafana"
PROMETHEUS = SOURCE / "deploy" / "prometheus"


def load():
    """Dashboards by file name."""
    return {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((GRAFANA / "dashboards").glob("*.json"))
    }


def panels(dashboard):
    """Panels that show something; rows and what is folded into them are gone through."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels", [])
        else:
            yield panel


def targets(dashboard):
    """(where, target) of each panel's targets."""
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield f"{dashboard['title']}: {panel['title']} {target['refId']}", target


def sql_expressions(dashboard):
    """(where, statement) of all panels, variables and annotations, by Grafana's macros unexpanded."""
    for where, target in targets(dashboard):
        if "rawSql" in target:
            yield where, target["rawSql"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query" and isinstance(variable["query"], str):
            yield f"{dashboard['title']}: variable {variable['name']}", variable["query"]
    for note in dashboard["annotations"]["list"]:
        yield f"{dashboard['title']}: annotation {note['name']}", note["target"]["rawSql"]


def prometheus_expressions(dashboard):
    """(where, expression) of all panels."""
    for where, target in targets(dashboard):
        if "expr" in target:
            yield where, target["expr"]


def legend_labels(dashboard):
    """Labels that the legend of each Prometheus target names, by where it is."""
    return {
        where: set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        for where, target in targets(dashboard)
        if "expr" in target
    }


def label_queries(dashboard):
    """(where, query) of all variables that hold labels' values."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query" and isinstance(variable["query"], dict):
            yield f"{dashboard['title']}: variable {variable['name']}", variable["query"]["query"]
