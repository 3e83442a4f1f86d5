-- name: task_insert
INSERT INTO task (kind, dedupe_key, search_id, idea_id, parent_id, candidate_id, round, wanted, indexes, attempt, stage,
  seed, device_class, priority, max_failures, deadline_seconds)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (dedupe_key) DO NOTHING RETURNING id

-- The materialized CTE keeps the limit and the row locks together: a nested loop could lock and take more rows.
-- name: task_claim
WITH chosen AS MATERIALIZED (
  SELECT id FROM task t
  WHERE state = 'available' AND kind = ANY ($1::text[]) AND run_at <= now() AND (device_class = '' OR device_class = $2)
    -- Ideas are asked for one call at a time in a search: each call is told all ideas so far, its sister's too.
    AND (kind <> 'propose' OR NOT EXISTS (
      SELECT 1 FROM task earlier WHERE earlier.search_id = t.search_id AND earlier.kind = 'propose' AND earlier.id < t.id
        AND earlier.state IN ('available', 'running')))
  ORDER BY priority, run_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
UPDATE task t SET state = 'running', epoch = t.epoch + 1, attempts = t.attempts + 1, owner_worker = $4, owner_boot = $5,
  lease_until = now() + make_interval(secs => $6::double precision),
  deadline = now() + make_interval(secs => t.deadline_seconds), started_at = now()
FROM chosen WHERE t.id = chosen.id
RETURNING t.*

-- A worker that stalled past its lease takes its task back while nobody else has claimed it.
-- name: task_renew
UPDATE task t SET state = 'running', lease_until = now() + make_interval(secs => $5::double precision)
FROM unnest($3::bigint[], $4::bigint[]) AS held (id, epoch)
WHERE t.id = held.id AND t.epoch = held.epoch AND t.state IN ('running', 'available')
  AND t.owner_worker = $1 AND t.owner_boot = $2 AND t.owner_boot <> ''
RETURNING t.id, t.epoch

-- A completion counts while its epoch is the task's, even if the lease had run out.
-- name: task_complete
UPDATE task t SET state = 'done', finished_at = now(), result = done.result, lease_until = NULL, deadline = NULL
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS done (id, epoch, result)
WHERE t.id = done.id AND t.epoch = done.epoch AND t.epoch > 0 AND t.state IN ('running', 'available')
RETURNING t.*

-- name: task_states
SELECT id, epoch, state FROM task WHERE id = ANY ($1::bigint[])

-- name: task_get
SELECT t.* FROM task t WHERE id = $1

-- name: task_fail
UPDATE task t SET failures = t.failures + 1, last_error = $3,
  state = CASE WHEN t.failures + 1 >= t.max_failures THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN t.failures + 1 >= t.max_failures THEN now() END,
  run_at = now() + make_interval(secs => least(60, $4::double precision * power(2, t.failures))),
  lease_until = NULL, deadline = NULL, owner_boot = ''
WHERE t.id = $1 AND t.epoch = $2 AND t.epoch > 0 AND t.state IN ('running', 'available')
RETURNING t.*

-- name: task_release
UPDATE task t SET state = 'available', run_at = now() + make_interval(secs => $3::double precision), last_error = $4,
  lease_until = NULL, deadline = NULL, owner_boot = ''
FROM unnest($1::bigint[], $2::bigint[]) AS held (id, epoch)
WHERE t.id = held.id AND t.epoch = held.epoch AND t.state = 'running'
RETURNING t.id

-- The horizon is checked again inside the update. A dead worker keeps its name on the task, so that it can take it back;
-- one that is stuck past the deadline loses it for good.
-- name: task_rescue
WITH late AS MATERIALIZED (
  SELECT id, coalesce(lease_until < now(), false) AS died FROM task
  WHERE state = 'running' AND (lease_until < now() OR deadline < now())
  ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED)
UPDATE task t SET
  worker_deaths = t.worker_deaths + late.died::integer,
  failures = t.failures + (NOT late.died)::integer,
  state = CASE WHEN t.worker_deaths + late.died::integer >= $1 OR t.failures + (NOT late.died)::integer >= t.max_failures
               THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN t.worker_deaths + late.died::integer >= $1
                       OR t.failures + (NOT late.died)::integer >= t.max_failures THEN now() END,
  last_error = CASE WHEN late.died
    THEN 'worker ' || t.owner_worker || ' stopped answering while it ran this task: its lease ran out'
    ELSE 'worker ' || t.owner_worker || ' answers, but did not end this task within its deadline of '
         || t.deadline_seconds || ' s' END,
  owner_boot = CASE WHEN late.died THEN t.owner_boot ELSE '' END,
  run_at = now(), lease_until = NULL, deadline = NULL
FROM late WHERE t.id = late.id AND t.state = 'running' AND (t.lease_until < now() OR t.deadline < now())
RETURNING t.*, late.died

-- name: task_free_boot
UPDATE task t SET
  worker_deaths = t.worker_deaths + $3,
  state = CASE WHEN t.worker_deaths + $3 >= $4 THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN t.worker_deaths + $3 >= $4 THEN now() END,
  last_error = CASE WHEN $3 > 0 THEN 'worker ' || t.owner_worker || ' was restarted while it ran this task'
                    ELSE t.last_error END,
  owner_boot = '', run_at = now(), lease_until = NULL, deadline = NULL
WHERE t.state = 'running' AND t.owner_worker = $1 AND t.owner_boot <> $2
RETURNING t.*

-- The epoch grows, so that a completion that is on its way is refused.
-- name: task_cancel_search
UPDATE task t SET state = 'cancelled', epoch = t.epoch + 1, finished_at = now(), lease_until = NULL, deadline = NULL,
  last_error = $2
WHERE t.search_id = $1 AND t.state IN ('available', 'running')
RETURNING t.id, t.epoch - 1 AS epoch, t.owner_worker, t.kind

-- name: task_of_search
SELECT t.* FROM task t WHERE t.search_id = $1 ORDER BY t.id

-- name: task_counts
SELECT count(*) FILTER (WHERE state = 'running') AS running, count(*) FILTER (WHERE state = 'available') AS waiting,
  coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'available'))::double precision, 0) AS oldest
FROM task WHERE search_id = $1

-- name: task_quarantined
SELECT kind, last_error FROM task WHERE search_id = $1 AND state = 'quarantined' ORDER BY id DESC LIMIT 5

-- name: task_last_error
SELECT kind, last_error FROM task WHERE search_id = $1 AND state = 'available' AND last_error <> '' ORDER BY id LIMIT 1

-- name: queue_status
SELECT kind, count(*) FILTER (WHERE state = 'available') AS available, count(*) FILTER (WHERE state = 'running') AS running,
  count(*) FILTER (WHERE state = 'quarantined') AS quarantined,
  coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'available'))::double precision, 0) AS oldest
FROM task WHERE state IN ('available', 'running', 'quarantined') GROUP BY kind ORDER BY kind

-- name: task_purge
DELETE FROM task WHERE id IN (
  SELECT t.id FROM task t JOIN search s ON s.id = t.search_id
  WHERE t.state IN ('done', 'cancelled') AND s.state IN ('done', 'cancelled', 'failed')
    AND s.finished_at < now() - make_interval(secs => $1::double precision)
  LIMIT 1000)
