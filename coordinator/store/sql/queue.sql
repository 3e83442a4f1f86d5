-- What the claim looks at is copied from the search: how urgent it is, whether it is held, where it fits.
-- name: task_insert
INSERT INTO task (kind, dedupe_key, search_id, idea_id, parent_id, candidate_id, round, wanted, indexes, attempt, stage,
  seed, device_class, priority, max_failures, deadline_seconds, problem_id, bytes_min, held)
SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::integer, $8::integer, $9::integer[], $10::integer,
  $11::text, $12::bigint, $13::text, $14::integer - 100 * coalesce(s.priority, 0), $15::integer, $16::double precision,
  coalesce(s.problem_id, ''), coalesce(s.bytes_min, 0), coalesce(s.paused_at IS NOT NULL OR NOT s.admitted, false)
FROM (SELECT 1) one LEFT JOIN search s ON s.id = $3
ON CONFLICT (dedupe_key) DO NOTHING RETURNING id

-- Calls to models. The materialized CTE keeps the limit and the row locks together: a nested loop could lock and take
-- more rows.
-- name: task_claim
WITH chosen AS MATERIALIZED (
  SELECT id FROM task t
  WHERE state = 'available' AND kind IN ('propose', 'implement', 'repair') AND NOT held AND kind = ANY ($1::text[])
    AND run_at <= now()
    -- Ideas are asked for one call at a time in a search: each call is told all ideas so far, its sister's too. Calls
    -- that are told nothing of each other have stages of their own.
    AND (kind <> 'propose' OR NOT EXISTS (
      SELECT 1 FROM task earlier WHERE earlier.search_id = t.search_id AND earlier.kind = 'propose' AND earlier.id < t.id
        AND earlier.stage = t.stage AND earlier.state IN ('available', 'running')))
  ORDER BY priority, run_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
UPDATE task t SET state = 'running', epoch = t.epoch + 1, attempts = t.attempts + 1, owner_worker = $3, owner_boot = $4,
  lease_until = now() + make_interval(secs => $5::double precision),
  deadline = now() + make_interval(secs => t.deadline_seconds), started_at = now()
FROM chosen WHERE t.id = chosen.id
RETURNING t.*, CASE WHEN t.attempts = 1 THEN extract(epoch FROM now() - t.created_at)::double precision END AS waited

-- Work for a device: of the first in line that it can take, those of the problem that it was at last count as older by
-- $8 seconds, so that its inputs and answers are used again. Others wait that much longer at most. A device whose memory
-- is not known takes everything. $9: no new problem is taken in.
-- name: task_claim_work
WITH line AS MATERIALIZED (
  SELECT id, priority, run_at - CASE WHEN problem_id = $7 AND problem_id <> ''
                                     THEN make_interval(secs => $8::double precision) ELSE interval '0' END AS due
  FROM task
  WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND NOT held AND run_at <= now()
    AND (device_class = '' OR device_class = $1) AND ($2::bigint = 0 OR bytes_min <= $2::bigint)
    AND (kind = 'evaluate' OR NOT $9::boolean)
  ORDER BY priority, run_at, id LIMIT greatest(256, 2 * $3::integer)),
chosen AS MATERIALIZED (
  SELECT t.id FROM task t JOIN line ON line.id = t.id WHERE t.state = 'available' AND NOT t.held
  ORDER BY line.priority, line.due, t.id LIMIT $3::integer FOR UPDATE OF t SKIP LOCKED)
UPDATE task t SET state = 'running', epoch = t.epoch + 1, attempts = t.attempts + 1, owner_worker = $4, owner_boot = $5,
  lease_until = now() + make_interval(secs => $6::double precision),
  deadline = now() + make_interval(secs => t.deadline_seconds), started_at = now()
FROM chosen WHERE t.id = chosen.id
RETURNING t.*, CASE WHEN t.attempts = 1 THEN extract(epoch FROM now() - t.created_at)::double precision END AS waited

-- A worker that stalled past its lease takes its task back while nobody else has claimed it: it had not died, and its
-- deadline is the one it was given.
-- name: task_renew
UPDATE task t SET state = 'running', lease_until = now() + make_interval(secs => $5::double precision),
  deadline = coalesce(t.deadline, t.started_at + make_interval(secs => t.deadline_seconds)),
  worker_deaths = t.worker_deaths - (t.state = 'available')::integer,
  killed_workers = CASE WHEN t.state = 'available' THEN array_remove(t.killed_workers, $1) ELSE t.killed_workers END
FROM unnest($3::bigint[], $4::bigint[]) AS held (id, epoch)
WHERE t.id = held.id AND t.epoch = held.epoch AND t.state IN ('running', 'available')
  AND t.owner_worker = $1 AND t.owner_boot = $2 AND t.owner_boot <> ''
RETURNING t.id, t.epoch

-- A worker that was restarted still has what its earlier boot finished: those tasks stay its own, and it has not died
-- of them. Their results follow, however old they are.
-- name: task_adopt
UPDATE task t SET state = 'running', owner_boot = $2, lease_until = now() + make_interval(secs => $5::double precision),
  deadline = greatest(t.started_at + make_interval(secs => t.deadline_seconds),
    now() + make_interval(secs => $5::double precision)),
  worker_deaths = t.worker_deaths - (t.state = 'available')::integer,
  killed_workers = CASE WHEN t.state = 'available' THEN array_remove(t.killed_workers, $1) ELSE t.killed_workers END
FROM unnest($3::bigint[], $4::bigint[]) AS held (id, epoch)
WHERE t.id = held.id AND t.epoch = held.epoch AND t.state IN ('running', 'available')
  AND t.owner_worker = $1 AND t.owner_boot NOT IN ('', $2)
RETURNING t.id, t.epoch

-- A completion counts while its epoch is the task's, even if the lease had run out.
-- name: task_complete
UPDATE task t SET state = 'done', finished_at = now(), result = done.result, lease_until = NULL, deadline = NULL
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS done (id, epoch, result)
WHERE t.id = done.id AND t.epoch = done.epoch AND t.epoch > 0 AND t.state IN ('running', 'available')
RETURNING t.id, t.epoch, t.kind, t.state, t.search_id, t.candidate_id, t.round, t.stage, t.seed, t.priority, t.device_class,
  t.deadline_seconds, t.owner_worker, t.owner_boot, t.problem_id, t.result

-- name: task_states
SELECT id, epoch, state FROM task WHERE id = ANY ($1::bigint[])

-- A task that waits is charged only where its lease ran out (its owner keeps its name on it then): a failure that is sent
-- again, since nobody acknowledged it, counts once.
-- name: task_fail
UPDATE task t SET failures = t.failures + 1, last_error = $3,
  log = task_log(t.log, 'failure ' || t.failures + 1 || ' at ' || t.owner_worker || ': ' || $3),
  state = CASE WHEN t.failures + 1 >= t.max_failures THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN t.failures + 1 >= t.max_failures THEN now() END,
  run_at = now() + make_interval(secs => least(60, $4::double precision * power(2, t.failures))),
  lease_until = NULL, deadline = NULL, owner_boot = ''
WHERE t.id = $1 AND t.epoch = $2 AND t.epoch > 0
  AND (t.state = 'running' OR t.state = 'available' AND t.owner_boot <> '')
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
  ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED),
counted AS (
  SELECT t.id, late.died, t.worker_deaths + late.died::integer AS deaths, t.failures + (NOT late.died)::integer AS failures,
    CASE WHEN late.died THEN with_worker(t.killed_workers, t.owner_worker) ELSE t.killed_workers END AS killed,
    CASE WHEN late.died
      THEN 'worker ' || t.owner_worker || ' stopped answering while it ran this task: its lease ran out'
      ELSE 'worker ' || t.owner_worker || ' answers, but did not end this task within its deadline of '
           || t.deadline_seconds || ' s' END AS error
  FROM late JOIN task t ON t.id = late.id)
UPDATE task t SET worker_deaths = c.deaths, failures = c.failures, killed_workers = c.killed, last_error = c.error,
  log = task_log(t.log, c.error),
  state = CASE WHEN is_poison(c.killed, c.deaths, $1) OR c.failures >= t.max_failures THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN is_poison(c.killed, c.deaths, $1) OR c.failures >= t.max_failures THEN now() END,
  owner_boot = CASE WHEN c.died THEN t.owner_boot ELSE '' END,
  run_at = now(), lease_until = NULL, deadline = NULL
FROM counted c WHERE t.id = c.id AND t.state = 'running' AND (t.lease_until < now() OR t.deadline < now())
RETURNING t.*, c.died

-- name: task_free_boot
WITH counted AS (
  SELECT id, worker_deaths + $3 AS deaths,
    CASE WHEN $3 > 0 THEN with_worker(killed_workers, owner_worker) ELSE killed_workers END AS killed
  FROM task WHERE state = 'running' AND owner_worker = $1 AND owner_boot <> $2
  ORDER BY id FOR UPDATE)
UPDATE task t SET worker_deaths = c.deaths, killed_workers = c.killed,
  state = CASE WHEN is_poison(c.killed, c.deaths, $4) THEN 'quarantined' ELSE 'available' END,
  finished_at = CASE WHEN is_poison(c.killed, c.deaths, $4) THEN now() END,
  last_error = CASE WHEN $3 > 0 THEN 'worker ' || t.owner_worker || ' was restarted while it ran this task'
                    ELSE t.last_error END,
  log = CASE WHEN $3 > 0 THEN task_log(t.log, 'worker ' || t.owner_worker || ' was restarted while it ran this task')
             ELSE t.log END,
  owner_boot = '', run_at = now(), lease_until = NULL, deadline = NULL
FROM counted c WHERE t.id = c.id
RETURNING t.*

-- The epoch grows, so that a completion that is on its way is refused.
-- name: task_cancel_search
UPDATE task t SET state = 'cancelled', epoch = t.epoch + 1, finished_at = now(), lease_until = NULL, deadline = NULL,
  last_error = $2
WHERE t.search_id = $1 AND t.state IN ('available', 'running')
RETURNING t.id, t.epoch - 1 AS epoch, t.owner_worker, t.kind

-- What a strategy sees of a search's tasks.
-- name: snapshot_tasks
SELECT kind, state, stage, round, parent_id, idea_id, candidate_id, wanted, cardinality(indexes) AS indexes,
  result LIKE 'exhausted%' AS exhausted
FROM task WHERE search_id = $1 AND kind <> 'intake' ORDER BY id

-- name: task_counts
SELECT count(*) FILTER (WHERE state = 'running') AS running, count(*) FILTER (WHERE state = 'available') AS waiting,
  coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'available'))::double precision, 0) AS oldest
FROM task WHERE search_id = $1

-- name: task_quarantined
SELECT kind, last_error FROM task WHERE search_id = $1 AND state = 'quarantined' ORDER BY id DESC LIMIT 5

-- name: task_last_error
SELECT kind, last_error FROM task WHERE search_id = $1 AND state = 'available' AND last_error <> '' ORDER BY id LIMIT 1

-- Each part has an index of its own.
-- name: queue_status
WITH open AS (
  SELECT kind, state, created_at FROM task WHERE state = 'available' AND kind IN ('propose', 'implement', 'repair')
  UNION ALL SELECT kind, state, created_at FROM task WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND NOT held
  UNION ALL SELECT kind, state, created_at FROM task WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND held
  UNION ALL SELECT kind, state, created_at FROM task WHERE state = 'running'
  UNION ALL SELECT kind, state, created_at FROM task WHERE state = 'quarantined')
SELECT kind, count(*) FILTER (WHERE state = 'available') AS available, count(*) FILTER (WHERE state = 'running') AS running,
  count(*) FILTER (WHERE state = 'quarantined') AS quarantined,
  coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'available'))::double precision, 0) AS oldest
FROM open GROUP BY kind ORDER BY kind
