"""Fleet: GPUs and workers, per node; which one is ill."""
from .panels import (
    changes,
    dashboard,
    job_and_instance,
    label_variable,
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
    timeline,
)

BUSY = 'sum by (node) (rate(warpsmith_gpu_busy_seconds_total{@, node=~"$node"}[$__rate_interval]))'
DEVICES = 'sum by (node) (warpsmith_gpus{@, node=~"$node"})'


def build():
    panels = [
        row("Devices and workers"),
        stat(
            "Devices by state",
            (
                "Each device of a worker is in one state; quarantined ones wait for an operator. The emulated device "
                "counts as one."
            ),
            "none",
            prom('sum by (state) (warpsmith_gpus{@, node=~"$node"})', "{{state}}"),
            width=12,
        ),
        stat(
            "Workers by state",
            "Silent: gone within the last hour without having drained.",
            "none",
            prom("sum by (state) (warpsmith_workers{@})", "{{state}}"),
            width=8,
        ),
        stat(
            "Devices that are busy",
            "Device seconds of recorded evaluations a second, over the number of devices.",
            "percentunit",
            prom(
                (
                    'sum(rate(warpsmith_gpu_busy_seconds_total{@, node=~"$node"}[$__rate_interval])) / '
                    'sum(warpsmith_gpus{@, node=~"$node"})'
                ),
                "busy",
            ),
        ),
        table(
            "Devices per node and state",
            "As the coordinator sees them now. Empty: none in that state.",
            "none",
            prom('sum by (node, state) (warpsmith_gpus{@, node=~"$node"}) > 0', "", instant=True),
            width=12,
            transformations=[
                {
                    "id": "groupingToMatrix",
                    "options": {
                        "columnField": "state",
                        "rowField": "node",
                        "valueField": "Value",
                        "emptyValue": "null",
                    },
                }
            ],
        ),
        series(
            "Devices by state over time",
            "Stacked: the height is the number of devices.",
            "none",
            prom('sum by (state) (warpsmith_gpus{@, node=~"$node"})', "{{state}}"),
            width=12,
            stacked=True,
        ),
        series(
            "Busy share per node",
            (
                "Device seconds of recorded evaluations a second, over the node's devices. Long evaluations count "
                "when they end."
            ),
            "percentunit",
            prom(f"{BUSY} / {DEVICES}", "{{node}}"),
        ),
        series(
            "Busy share per device",
            "Of the last minute, as each worker measures it.",
            "percentunit",
            prom("warpsmith_gpu_busy_ratio{@}", "{{instance}} gpu {{gpu}}"),
        ),
        series(
            "Worker restarts",
            "A worker came back as a new process, by node and reason, in the interval of a point.",
            "none",
            prom(
                'sum by (node, reason) (increase(warpsmith_worker_restarts_total{@, node=~"$node"}[$__rate_interval]))',
                "{{node}} {{reason}}",
            ),
        ),
        row("Which one is ill?"),
        timeline(
            "Throttled",
            "Slowed down for heat or by the power supply, per device. Absent without NVML.",
            prom("warpsmith_gpu_throttled{@}", "{{instance}} gpu {{gpu}}"),
        ),
        timeline(
            "Wedged",
            "A process on the device cannot be ended.",
            prom("warpsmith_gpu_wedged{@}", "{{instance}} gpu {{gpu}}"),
        ),
        table(
            "Results per worker",
            (
                "In the time shown. Infra errors are the machine's fault; a spread far above the other workers' means "
                "a noisy device."
            ),
            "none",
            sql("fleet_worker_results"),
            width=14,
            overrides=[
                override("median spread", unit="percentunit"),
                override("device seconds", unit="s"),
                override("last result", unit="dateTimeFromNow"),
            ],
        ),
        table(
            "Workers",
            "Every worker that ever connected, and when it was last heard of.",
            "none",
            sql("fleet_workers"),
            width=10,
            overrides=[override("last seen", unit="dateTimeFromNow")],
        ),
        series(
            "Executors taken down",
            "By candidates, per device and reason, in the interval of a point.",
            "none",
            prom(
                "sum by (instance, gpu, reason) (increase(warpsmith_executor_restarts_total{@}[$__rate_interval]))",
                "{{instance}} gpu {{gpu}} {{reason}}",
            ),
        ),
        series(
            "Temperature",
            "Absent without NVML.",
            "celsius",
            prom("warpsmith_gpu_temperature_celsius{@}", "{{instance}} gpu {{gpu}}"),
        ),
        series(
            "Power", "Absent without NVML.", "watt", prom("warpsmith_gpu_power_watts{@}", "{{instance}} gpu {{gpu}}")
        ),
        series(
            "Device memory used",
            "Absent without NVML.",
            "bytes",
            prom("warpsmith_gpu_memory_used_bytes{@}", "{{instance}} gpu {{gpu}}"),
        ),
        series(
            "Results not acknowledged yet",
            (
                "Kept on the worker's disk until the coordinator has recorded them. Growing: the "
                "coordinator does not answer."
            ),
            "none",
            prom("warpsmith_spooled_results{@}", "{{instance}}"),
        ),
        timeline(
            "Cut off from the coordinator",
            "The coordinator has not answered on the worker's stream.",
            prom("1 - warpsmith_coordinator_connected{@}", "{{instance}}"),
            width=8,
        ),
        row("Where the time goes"),
        series(
            "Evaluations by outcome",
            "As workers ended them, a second.",
            "ops",
            prom("sum by (outcome) (rate(warpsmith_evaluations_total{@}[$__rate_interval]))", "{{outcome}}"),
            stacked=True,
        ),
        series(
            "Stages of an evaluation, median and 95th percentile",
            "Wall time at the worker of recorded evaluations.",
            "s",
            quantiles("warpsmith_stage_duration_seconds", ["stage"], "{{stage}}", shares=(0.5, 0.95)),
        ),
        series(
            "Seconds per stage and second, by workers",
            (
                "What workers spend their time on; compiling and queueing overlap with other "
                "candidates' time on the device."
            ),
            "none",
            prom("sum by (stage) (rate(warpsmith_evaluation_stage_seconds_sum{@}[$__rate_interval]))", "{{stage}}"),
            stacked=True,
        ),
    ]
    return dashboard(
        "warpsmith-fleet",
        "warpsmith / Fleet",
        "Devices and workers: busy, throttled, wedged, quarantined, per node.",
        [
            prometheus_variable(),
            postgresql_variable(),
            *job_and_instance(),
            label_variable("node", "Node", 'label_values(warpsmith_gpus{job=~"$job"}, node)'),
        ],
        changes(),
        panels,
        "now-6h",
    )
