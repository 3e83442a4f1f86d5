"""Queue and database: does work flow, is the coordinator well, is there room."""
from .panels import (
    changes,
    dashboard,
    job_and_instance,
    override,
    postgresql_variable,
    prom,
    prometheus_variable,
    quantiles,
    row,
    series,
    sql,
    stat,
    table,
)


def increase(metric, labels, legend):
    return prom(f"sum by ({labels}) (increase({metric}{{@}}[$__rate_interval]))", legend)


def build():
    panels = [
        row("At a glance"),
        stat(
            "Coordinators that lead",
            "One, always.",
            "none",
            prom("sum(warpsmith_is_leader{@})", "leads"),
            thresholds=[{"color": "red", "value": None}, {"color": "green", "value": 1}, {"color": "red", "value": 2}],
        ),
        stat(
            "Searches",
            "By state, the coordinator's own left out.",
            "none",
            prom("sum by (state) (warpsmith_searches{@})", "{{state}}"),
            width=8,
        ),
        stat("Batches", "By state.", "none", prom("sum by (state) (warpsmith_batches{@})", "{{state}}"), width=6),
        stat(
            "Tasks given up",
            "They wait for an operator: `warpsmith queue quarantine list`.",
            "none",
            prom("sum(warpsmith_quarantined_tasks{@})", "quarantined"),
            width=3,
            thresholds=[{"color": "green", "value": None}, {"color": "red", "value": 1}],
        ),
        stat(
            "Since the last improvement",
            "Of any search. Empty: there never was one.",
            "s",
            prom("time() - max(warpsmith_last_improvement_timestamp_seconds{@})", "ago"),
            width=3,
        ),
        row("Does work flow?"),
        series(
            "Tasks by kind and state",
            "Held: their search is paused or waits for a place.",
            "none",
            prom("sum by (kind, state) (warpsmith_tasks{@}) > 0", "{{kind}} {{state}}"),
            stacked=True,
        ),
        series(
            "Age of the oldest task that could start",
            "Absent: none waits.",
            "s",
            prom("max by (kind) (warpsmith_queue_oldest_age_seconds{@})", "{{kind}}"),
        ),
        series(
            "Tasks handed out",
            "A second, each attempt.",
            "ops",
            prom("sum by (kind) (rate(warpsmith_claims_total{@}[$__rate_interval]))", "{{kind}}"),
        ),
        series(
            "From insertion to the first start",
            "Pauses of the search included.",
            "s",
            quantiles("warpsmith_task_wait_seconds", ["kind"], "{{kind}}"),
        ),
        series(
            "Results",
            "Ends of tasks that were recorded, a second.",
            "ops",
            prom("sum by (kind, outcome) (rate(warpsmith_results_total{@}[$__rate_interval]))", "{{kind}} {{outcome}}"),
        ),
        series(
            "Candidates by first verdict",
            "A second; rejected: replies that hold no candidate.",
            "ops",
            prom("sum by (outcome) (rate(warpsmith_candidates_total{@}[$__rate_interval]))", "{{outcome}}"),
            stacked=True,
        ),
        series(
            "New best kernels",
            "Of all searches, in the interval of a point.",
            "none",
            prom("sum(increase(warpsmith_improvements_total{@}[$__rate_interval]))", "new bests"),
        ),
        series(
            "Speedup of new best kernels over PyTorch eager",
            "Median ratio, by what they were timed on: the emulated device says nothing of a GPU.",
            "none",
            prom(
                (
                    "histogram_quantile(0.5, sum by (le, device)"
                    " (rate(warpsmith_speedup_ratio_bucket{@}[$__rate_interval])))"
                ),
                "{{device}}",
            ),
        ),
        series(
            "Device time",
            "Seconds of evaluations a second, of all devices.",
            "none",
            prom("sum(rate(warpsmith_gpu_seconds_total{@}[$__rate_interval]))", "device seconds"),
        ),
        series(
            "US dollars an hour",
            "Charged for calls to models.",
            "currencyUSD",
            prom("3600 * sum(rate(warpsmith_spend_usd_total{@}[$__rate_interval]))", "spend"),
        ),
        series(
            "Tasks taken from workers",
            (
                "In the interval of a point: lease (it fell silent), deadline (it did not end), restart (it "
                "came back without it)."
            ),
            "none",
            increase("warpsmith_rescues_total", "reason", "{{reason}}"),
        ),
        series(
            "Results refused as stale",
            "In the interval of a point: another worker had the task by then.",
            "none",
            prom("sum(increase(warpsmith_stale_completions_total{@}[$__rate_interval]))", "refused"),
        ),
        table(
            "The queue now",
            "Tasks that have not ended well yet.",
            "none",
            sql("queue_tasks"),
            width=12,
            overrides=[override("age of the oldest", unit="s")],
        ),
        table(
            "Budgets",
            "Of searches, batches and UTC days. No limit where there is none.",
            "none",
            sql("queue_budgets"),
            width=12,
            overrides=[
                override("/^(used|set aside|limit)$/", unit="currencyUSD"),
                override("share used", unit="percentunit"),
            ],
        ),
        table(
            "Tasks given up",
            "Latest first. `warpsmith queue quarantine retry TASK` tries one again.",
            "none",
            sql("queue_quarantined"),
            overrides=[override("given up at", unit="dateTimeAsIso")],
        ),
        row("Coordinator and database"),
        series("Database size", "The whole database.", "bytes", prom("max(warpsmith_database_size_bytes{@})", "size")),
        series(
            "Free on the database's disk",
            "Absent where the coordinator cannot know it.",
            "bytes",
            prom("min(warpsmith_disk_free_bytes{@})", "free"),
        ),
        series(
            "Dead rows",
            "That vacuum has not removed yet, by table.",
            "none",
            prom("max by (table) (warpsmith_database_dead_tuples{@})", "{{table}}"),
        ),
        series(
            "Database errors",
            "In the interval of a point, by code.",
            "none",
            increase("warpsmith_database_errors_total", "code", "{{code}}"),
        ),
        series(
            "One turn of the coordinator",
            "Of the thread that serves all workers.",
            "s",
            quantiles("warpsmith_turn_duration_seconds", [], ""),
        ),
        table(
            "Versions",
            "Of every process that is scraped.",
            "none",
            [
                prom("max by (job, version, revision, harness_revision) (warpsmith_build_info{@})", "", instant=True),
                prom(
                    "max by (job, version, revision, harness_revision) (warpsmith_worker_build_info{@})",
                    "",
                    instant=True,
                ),
            ],
            transformations=[{"id": "merge", "options": {}}],
        ),
    ]
    return dashboard(
        "warpsmith-queue",
        "warpsmith / Queue and database",
        "The queue, the coordinator and PostgreSQL.",
        [prometheus_variable(), postgresql_variable(), *job_and_instance()],
        changes(),
        panels,
        "now-6h",
    )
