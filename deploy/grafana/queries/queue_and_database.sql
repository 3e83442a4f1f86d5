-- The queue as it is now.

-- name: queue_tasks
SELECT kind, state, CASE WHEN device_class = '' THEN 'any' ELSE device_class END AS "needs", tasks,
  extract(epoch FROM now() - oldest_created_at)::double precision AS "age of the oldest", failures, worker_deaths AS "worker deaths"
FROM view_queue ORDER BY kind, state, device_class

-- name: queue_quarantined
SELECT quarantined_at AS "given up at", task_id AS task, kind, problem, search_id AS search, candidate_id AS candidate, attempts,
  failures, worker_deaths AS "worker deaths", last_error AS "last error"
FROM view_quarantined_task ORDER BY quarantined_at DESC LIMIT 200

-- name: queue_budgets
SELECT scope, id, used_usd AS "used", reserved_usd AS "set aside", max_usd AS "limit", used_usd / max_usd AS "share used",
  used_tokens AS "tokens used", max_tokens AS "limit of tokens", spent
FROM view_budget ORDER BY scope, id DESC LIMIT 200
