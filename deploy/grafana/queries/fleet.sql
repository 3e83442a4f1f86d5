-- Workers and what they did in the time shown.

-- name: fleet_workers
SELECT worker_id AS worker, device_class AS "device class", CASE WHEN emulated THEN 'emulated device' ELSE 'GPU' END AS "kind",
  version, CASE WHEN NOT connected THEN 'gone' WHEN draining THEN 'draining' ELSE 'connected' END AS state, running AS "running",
  slots, last_seen AS "last seen"
FROM view_worker ORDER BY connected DESC, worker_id LIMIT 1000

-- name: fleet_worker_results
SELECT worker_id AS worker, count(*) AS evaluations, count(*) FILTER (WHERE outcome = 'ok') AS correct,
  count(*) FILTER (WHERE outcome = 'infra_error') AS "infra errors", count(*) FILTER (WHERE outcome = 'suspicious') AS suspicious,
  count(*) FILTER (WHERE outcome = 'timeout') AS timeouts,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY spread) AS "median spread", sum(device_seconds) AS "device seconds",
  max(created_at) AS "last result"
FROM view_evaluation WHERE $__timeFilter(created_at) GROUP BY worker_id ORDER BY 4 DESC, 2 DESC, 1
