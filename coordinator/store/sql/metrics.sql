-- What metrics say of the whole cluster, read every few seconds at most, each by an index or from a small table.

-- name: metrics_term
SELECT term, holder FROM leader WHERE id = 1

-- Tasks that have ended are left out, so that this grows with what is under way alone: each part has an index of its own.
-- name: metrics_tasks
WITH open AS (
  SELECT kind, state, held, run_at FROM task WHERE state = 'available' AND kind IN ('propose', 'implement', 'repair')
  UNION ALL SELECT kind, state, held, run_at FROM task WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND NOT held
  UNION ALL SELECT kind, state, held, run_at FROM task WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND held
  UNION ALL SELECT kind, state, held, run_at FROM task WHERE state = 'running'
  UNION ALL SELECT kind, state, held, run_at FROM task WHERE state = 'quarantined')
SELECT kind, CASE WHEN state = 'available' AND held THEN 'held' ELSE state END AS state, count(*) AS count,
  extract(epoch FROM now() - min(run_at) FILTER (WHERE state = 'available' AND NOT held AND run_at <= now()))::double precision
    AS oldest
FROM open GROUP BY 1, 2

-- name: metrics_searches
SELECT CASE WHEN state NOT IN ('intake', 'running') THEN state WHEN NOT admitted THEN 'waiting'
    WHEN paused_at IS NOT NULL THEN 'paused' ELSE state END AS state, count(*) AS count
FROM search WHERE NOT system GROUP BY 1

-- name: metrics_batches
SELECT CASE WHEN state = 'running' AND paused THEN 'paused' ELSE state END AS state, count(*) AS count FROM batch GROUP BY 1

-- One row a day. $1: today's.
-- name: metrics_spend
SELECT coalesce(sum(used_nano_usd), 0) * 1e-9::double precision AS total,
  coalesce(sum(used_nano_usd) FILTER (WHERE id = $1), 0) * 1e-9::double precision AS spent,
  coalesce(sum(reserved_nano_usd) FILTER (WHERE id = $1), 0) * 1e-9::double precision AS reserved
FROM budget WHERE scope = 'day'

-- The next evaluations after $1. They are only added, by one thread, so that none appears behind the last one seen.
-- name: metrics_evaluations
SELECT count(*) AS count, coalesce(max(id), 0) AS last_id, coalesce(sum(gpu_seconds), 0) AS gpu_seconds
FROM (SELECT id, gpu_seconds FROM evaluation WHERE id > $1::bigint ORDER BY id LIMIT $2::integer) e

-- name: metrics_size
SELECT pg_database_size(current_database()) AS bytes

-- name: metrics_dead_tuples
SELECT s.relname AS name, s.n_dead_tup AS dead FROM pg_stat_user_tables s
WHERE s.relid IN (SELECT oid FROM pg_class WHERE relkind = 'r'
                  AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'task'::regclass))
ORDER BY s.relname LIMIT 100

-- When the last of all searches' bests was found.
-- name: metrics_last_improvement
SELECT extract(epoch FROM max(c.finished_at))::double precision AS at
FROM search s JOIN candidate c ON c.id = s.best_candidate_id WHERE NOT s.system
