"""What the dashboards are made of: panels, targets, variables, annotations, as Grafana's JSON wants them.

In PromQL, `@` inside braces stands for the matchers of the variables job and instance, which every selector has. SQL is
taken by name from queries/*.sql. What is missing is never drawn as zero: gaps stay gaps, empty panels say "no data".
"""
import pathlib
import re

SCHEMA_VERSION = 41
PROMETHEUS = {"type": "prometheus", "uid": "${prometheus_datasource}"}
POSTGRESQL = {"type": "grafana-postgresql-datasource", "uid": "${postgresql_datasource}"}
MATCHERS = 'job=~"$job", instance=~"$instance"'
NO_VALUE = "no data"


def load_queries(folder):
    """The statements of queries/*.sql by name; `-- name: x` begins one, other comments are left out."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.sql")):
        name = None
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("-- name: "):
                name = line.removeprefix("-- name: ").strip()
                if name in found:
                    raise ValueError(f"{path.name}: {name} is there twice")
                found[name] = []
            elif line.strip() and not line.startswith("--"):
                if name is None:
                    raise ValueError(f"{path.name}: a statement without a name: {line}")
                found[name].append(line.rstrip())
    return {name: "\n".join(lines) for name, lines in found.items()}


QUERIES = load_queries(pathlib.Path(__file__).resolve().parent.parent / "queries")


def sql(name, form="table"):
    return {"datasource": POSTGRESQL, "editorMode": "code", "format": form, "rawQuery": True, "rawSql": QUERIES[name]}


def prom(expression, legend, instant=False):
    expr = re.sub(r"\{@", "{" + MATCHERS, " ".join(expression.split()))
    target = {"datasource": PROMETHEUS, "editorMode": "code", "expr": expr, "legendFormat": legend}
    return target | (
        {"format": "table", "instant": True, "range": False} if instant else {"instant": False, "range": True}
    )


def quantiles(metric, by, legend, matchers="", shares=(0.5, 0.95, 0.99)):
    """Targets of a histogram's quantiles; `by`: labels to keep."""
    labels = ", ".join(["le", *by])
    return [
        prom(
            f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket{{@{matchers}}}[$__rate_interval])))",
            f"p{share * 100:g} {legend}".strip(),
        )
        for share in shares
    ]


def panel(
    kind,
    title,
    description,
    unit,
    targets,
    width=8,
    height=8,
    custom=None,
    defaults=None,
    overrides=(),
    options=None,
    transformations=(),
):
    targets = targets if isinstance(targets, list) else [targets]
    sources = {target["datasource"]["uid"]: target["datasource"] for target in targets}
    if len(sources) != 1:
        raise ValueError(f"{title}: targets of one panel are of one data source")
    for number, target in enumerate(targets):
        target["refId"] = chr(ord("A") + number)
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": next(iter(sources.values())),
        "fieldConfig": {
            "defaults": {"unit": unit, "noValue": NO_VALUE, "custom": custom or {}} | (defaults or {}),
            "overrides": list(overrides),
        },
        "gridPos": {"w": width, "h": height},
        "options": options or {},
        "targets": targets,
        "transformations": list(transformations),
    }


def override(field, **properties):
    """`properties`: ids of Grafana's field options, __ for dots; a field between slashes is a regular expression."""
    matcher = "byRegexp" if field.startswith("/") else "byName"
    return {
        "matcher": {"id": matcher, "options": field},
        "properties": [{"id": name.replace("__", "."), "value": value} for name, value in properties.items()],
    }


def link(title, url):
    return [{"title": title, "url": url, "targetBlank": False}]


LEGEND = {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True}
LINES = {
    "drawStyle": "line",
    "fillOpacity": 8,
    "insertNulls": False,
    "lineWidth": 1,
    "pointSize": 4,
    "showPoints": "auto",
    "spanNulls": False,
}
STACKED = LINES | {"fillOpacity": 40, "stacking": {"mode": "normal", "group": "A"}}


def series(title, description, unit, targets, width=8, stacked=False, overrides=(), custom=None, defaults=None):
    return panel(
        "timeseries",
        title,
        description,
        unit,
        targets,
        width,
        custom=(STACKED if stacked else LINES) | (custom or {}),
        overrides=overrides,
        defaults=defaults,
        options={"legend": LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    )


def trend(title, description, unit, targets, x, width=12, overrides=()):
    return panel(
        "trend",
        title,
        description,
        unit,
        targets,
        width,
        custom=LINES | {"showPoints": "always"},
        overrides=overrides,
        options={"legend": LEGEND | {"calcs": []}, "tooltip": {"mode": "multi", "sort": "none"}, "xField": x},
    )


def stat(title, description, unit, targets, width=4, height=4, overrides=(), text=False, thresholds=None):
    steps = thresholds or [{"color": "text", "value": None}]
    return panel(
        "stat",
        title,
        description,
        unit,
        targets,
        width,
        height,
        overrides=overrides,
        defaults={"color": {"mode": "thresholds"}, "thresholds": {"mode": "absolute", "steps": steps}},
        options={
            "colorMode": "value",
            "graphMode": "none",
            "justifyMode": "auto",
            "textMode": "auto",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "/.*/" if text else "", "values": False},
        },
    )


def table(
    title, description, unit, targets, width=24, height=8, overrides=(), transformations=(), defaults=None, custom=None
):
    return panel(
        "table",
        title,
        description,
        unit,
        targets,
        width,
        height,
        overrides=overrides,
        transformations=transformations,
        defaults=defaults,
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True} | (custom or {}),
        options={"cellHeight": "sm", "showHeader": True},
    )


def bars(title, description, unit, targets, x, width=8, horizontal=False, stacked=False):
    return panel(
        "barchart",
        title,
        description,
        unit,
        targets,
        width,
        custom={"fillOpacity": 70, "lineWidth": 1},
        options={
            "xField": x,
            "orientation": "horizontal" if horizontal else "vertical",
            "stacking": "normal" if stacked else "none",
            "showValue": "auto",
            "barWidth": 0.9,
            "groupWidth": 0.8,
            "legend": LEGEND | {"calcs": []},
            "tooltip": {"mode": "multi", "sort": "none"},
        },
    )


def timeline(title, description, targets, width=12, height=8):
    return panel(
        "state-timeline",
        title,
        description,
        "bool_yes_no",
        targets,
        width,
        height,
        custom={"fillOpacity": 70, "insertNulls": False, "lineWidth": 0, "spanNulls": False},
        defaults={
            "color": {"mode": "thresholds"},
            "thresholds": {
                "mode": "absolute",
                "steps": [{"color": "green", "value": None}, {"color": "red", "value": 1}],
            },
        },
        options={
            "legend": LEGEND | {"calcs": [], "displayMode": "list"},
            "mergeValues": True,
            "rowHeight": 0.8,
            "showValue": "never",
            "tooltip": {"mode": "single", "sort": "none"},
        },
    )


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"w": 24, "h": 1}, "panels": []}


def data_source_variable(name, label, plugin):
    return {
        "type": "datasource",
        "name": name,
        "label": label,
        "query": plugin,
        "regex": "",
        "hide": 0,
        "includeAll": False,
        "multi": False,
        "refresh": 1,
        "current": {},
        "options": [],
    }


def prometheus_variable():
    return data_source_variable("prometheus_datasource", "Prometheus data source", "prometheus")


def postgresql_variable():
    return data_source_variable("postgresql_datasource", "PostgreSQL data source", "grafana-postgresql-datasource")


def label_variable(name, label, query):
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": PROMETHEUS,
        "definition": query,
        "query": {"query": query, "refId": name, "qryType": 1},
        "regex": "",
        "refresh": 2,
        "sort": 1,
        "hide": 0,
        "includeAll": True,
        "multi": True,
        "allValue": ".+",
        "current": {},
        "options": [],
    }


def job_and_instance():
    ours = '{__name__=~"warpsmith_(worker_)?build_info"'
    return [
        label_variable("job", "Job", f"label_values({ours}}}, job)"),
        label_variable("instance", "Instance", f'label_values({ours}, job=~"$job"}}, instance)'),
    ]


def sql_variable(name, label, query, hide=0):
    text = QUERIES[query]
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": POSTGRESQL,
        "definition": text,
        "query": text,
        "regex": "",
        "refresh": 2,
        "sort": 0,
        "hide": hide,
        "includeAll": False,
        "multi": False,
        "current": {},
        "options": [],
    }


def text_variable(name, label, value, description):
    return {
        "type": "textbox",
        "name": name,
        "label": label,
        "query": value,
        "description": description,
        "hide": 0,
        "current": {"selected": False, "text": value, "value": value},
        "options": [],
    }


def annotation(name, query, color):
    return {
        "name": name,
        "datasource": POSTGRESQL,
        "enable": True,
        "hide": False,
        "iconColor": color,
        "target": sql(query) | {"refId": "Annotation"},
    }


def changes():
    """Annotations that every dashboard has."""
    return [
        annotation("Model or prompt change", "annotation_model_change", "purple"),
        annotation("Deploy", "annotation_deployment", "blue"),
        annotation("Quarantine", "annotation_quarantine", "red"),
    ]


def dashboard(uid, title, description, variables, annotations, panels, span):
    """Panels flow from left to right; a row panel begins a new line."""
    x = y = line = 0
    for number, one in enumerate(panels, 1):
        place = one["gridPos"]
        if x + place["w"] > 24 or one["type"] == "row":
            x, y, line = 0, y + line, 0
        one["id"] = number
        one["gridPos"] = {"h": place["h"], "w": place["w"], "x": x, "y": y}
        x, line = x + place["w"], max(line, place["h"])
    return {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["warpsmith"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "id": None,
        "editable": False,
        "graphTooltip": 1,
        "fiscalYearStartMonth": 0,
        "liveNow": False,
        "refresh": "30s",
        "time": {"from": span, "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "weekStart": "",
        "links": [
            {
                "type": "dashboards",
                "title": "warpsmith",
                "tags": ["warpsmith"],
                "asDropdown": True,
                "includeVars": False,
                "keepTime": True,
                "targetBlank": False,
                "icon": "external link",
                "tooltip": "",
                "url": "",
            }
        ],
        "annotations": {"list": annotations},
        "templating": {"list": variables},
        "panels": panels,
    }
