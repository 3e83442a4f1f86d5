-- name: batch_insert
INSERT INTO batch (id, name, request_id, owner, submitted_by, state, priority, parallel, max_gpu_seconds)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (request_id) DO NOTHING RETURNING id

-- name: batch_by_request
SELECT id FROM batch WHERE request_id = $1

-- name: batch_by_prefix
SELECT id FROM batch WHERE id LIKE $1 || '%' ORDER BY id LIMIT 2

-- name: batch_lock
SELECT id FROM batch WHERE id = $1 FOR NO KEY UPDATE

-- name: batch_get
SELECT b.*, (extract(epoch FROM b.submitted_at) * 1000000)::bigint AS submitted_us,
  coalesce((extract(epoch FROM b.finished_at) * 1000000)::bigint, 0) AS finished_us,
  coalesce(g.max_nano_usd, 0) AS max_nano_usd, coalesce(g.max_tokens, 0) AS max_tokens,
  coalesce(g.used_nano_usd, 0) AS used_nano_usd, coalesce(g.used_tokens, 0) AS used_tokens,
  coalesce(g.reserved_nano_usd, 0) AS reserved_nano_usd
FROM batch b LEFT JOIN budget g ON g.scope = 'batch' AND g.id = b.id WHERE b.id = $1

-- name: batch_list
SELECT id FROM batch WHERE $1 = '' OR owner = $1 ORDER BY submitted_at DESC, id LIMIT $2

-- Those that have something to decide, the most urgent first.
-- name: batch_active
SELECT id FROM batch b WHERE state = 'running' AND NOT paused
  OR state = 'cancelled' AND EXISTS (SELECT 1 FROM search s WHERE s.batch_id = b.id AND s.state IN ('intake', 'running'))
ORDER BY priority DESC, submitted_at, id

-- name: batch_set_state
UPDATE batch SET state = $2, finished_at = CASE WHEN $2 IN ('done', 'cancelled') THEN now() END
WHERE id = $1 AND state <> $2 AND state <> 'cancelled' RETURNING id

-- name: batch_set_paused
UPDATE batch SET paused = $2 WHERE id = $1 AND paused <> $2 RETURNING id

-- name: batch_set_limits
UPDATE batch SET priority = $2, parallel = $3, max_gpu_seconds = $4, owner = $5 WHERE id = $1

-- name: batch_gpu_limit
SELECT max_gpu_seconds FROM batch WHERE id = $1

-- Searches of the batch order evaluations one after the other. Taken after the search's own row, and nothing after it.
-- name: batch_gpu_lock
SELECT pg_advisory_xact_lock(7710453, hashtext($1))

-- Used by each of its searches, the most that an evaluation took there, and how many are under way.
-- name: batch_gpu_usage
SELECT s.id, coalesce(e.gpu_seconds, 0) AS gpu_seconds, coalesce(e.longest, 0) AS longest, t.open
FROM search s
  CROSS JOIN LATERAL (SELECT sum(e.gpu_seconds) AS gpu_seconds, max(e.gpu_seconds) AS longest FROM evaluation e
                      WHERE e.search_id = s.id) e
  CROSS JOIN LATERAL (SELECT count(*) AS open FROM task t
                      WHERE t.search_id = s.id AND t.kind = 'evaluate' AND t.state IN ('available', 'running')) t
WHERE s.batch_id = $1

-- Searches are locked in the order of their ids everywhere.
-- name: batch_lock_searches
SELECT id FROM search WHERE batch_id = $1 AND state IN ('intake', 'running') ORDER BY id FOR NO KEY UPDATE

-- name: batch_open_searches
SELECT id FROM search WHERE batch_id = $1 AND state IN ('intake', 'running') ORDER BY id

-- Those that did not come to the end of their rounds: failed, stopped for want of budget ($2: there is some now), or with
-- tasks that were given up. One that never began is searched anew; another goes on where it stood.
-- name: batch_retry_searches
SELECT s.id, s.batch_key, s.level, s.number, s.state, s.state = 'failed' OR s.state = 'done' AND s.round = 0 AS anew
FROM search s
WHERE s.batch_id = $1 AND s.superseded_by IS NULL AND (s.state = 'failed' OR s.state = 'done' AND s.finish_reason = 'budget' AND $2::boolean
  OR (s.state = 'running' OR s.state = 'done' AND s.finish_reason NOT IN ('rounds', 'roofline', 'budget'))
    AND EXISTS (SELECT 1 FROM task t WHERE t.search_id = s.id AND t.state = 'quarantined'))
ORDER BY s.id

-- A search that had ended goes on where it stood: what its end called back is asked for again, but for evaluations,
-- which its strategy orders as there is room.
-- name: batch_reopen_search
UPDATE search SET state = 'running', finish_reason = '', error = '', finished_at = NULL, stop_reason = ''
WHERE id = $1 AND state = 'done' RETURNING id

-- name: batch_reopen_round
UPDATE round SET closed_at = NULL, started_at = now() WHERE search_id = $1 AND round = (SELECT round FROM search WHERE id = $1)

-- name: batch_reopen_calls
UPDATE task SET state = 'available', run_at = now(), finished_at = NULL, owner_boot = '', failures = 0, last_error = ''
WHERE search_id = $1 AND state = 'cancelled' AND kind IN ('propose', 'implement', 'repair')

-- name: batch_reopen_evaluations
WITH gone AS (DELETE FROM task WHERE search_id = $1 AND state = 'cancelled' AND kind = 'evaluate' RETURNING candidate_id, stage)
UPDATE candidate c SET state = 'queued' FROM gone
WHERE c.id = gone.candidate_id AND gone.stage = 'measure' AND c.state = 'evaluating'

-- name: batch_unmark_search_spent
UPDATE budget SET spent = false WHERE scope = 'search' AND id = $1 AND spent

-- name: batch_quarantined_tasks
SELECT id, kind, candidate_id FROM task WHERE search_id = $1 AND state = 'quarantined' ORDER BY id

-- name: batch_search_at
SELECT s.id, p.source_sha256, s.settings FROM search s JOIN problem p ON p.id = s.problem_id
WHERE s.batch_id = $1 AND s.batch_key = $2 AND s.superseded_by IS NULL

-- name: batch_search_count
SELECT count(*) AS count FROM search WHERE batch_id = $1 AND superseded_by IS NULL

-- name: batch_supersede
UPDATE search SET superseded_by = $2 WHERE id = $1

-- name: batch_set_search_priority
UPDATE search SET priority = $2, owner = $3 WHERE batch_id = $1 AND state IN ('intake', 'running')

-- The limit was raised: what was refused is asked for again.
-- name: batch_unmark_spent
UPDATE budget SET spent = false WHERE scope = 'search' AND spent
  AND id IN (SELECT id FROM search WHERE batch_id = $1)

-- One row a problem, for the scheduler. Active: it is in a round that it was granted, or in its intake.
-- name: batch_schedule
SELECT s.id, s.state, s.settings, s.admitted, s.round, s.granted_rounds, s.reserve_rounds, s.stop_reason, s.best_ms,
  s.best_candidate_id, s.emulated, coalesce(g.spent, false) AS spent
FROM search s LEFT JOIN budget g ON g.scope = 'search' AND g.id = s.id
WHERE s.batch_id = $1 AND s.superseded_by IS NULL ORDER BY s.level, s.number, s.name, s.id

-- The best of each round by log(anchor / candidate).
-- name: batch_round_bests
SELECT search_id, round, max(log_ratio) AS log_ratio FROM candidate
WHERE search_id = ANY ($1::text[]) AND outcome = 14 GROUP BY search_id, round ORDER BY search_id, round

-- name: batch_evaluation_of
SELECT e.body FROM candidate c JOIN evaluation e ON e.id = c.evaluation_id WHERE c.id = $1

-- name: batch_owner_active
SELECT count(*) AS count FROM search WHERE owner = $1 AND state IN ('intake', 'running') AND admitted AND paused_at IS NULL
  AND (batch_id IS NULL OR state = 'intake' OR round <= granted_rounds)

-- Searches in no batch that wait for their owner's quota.
-- name: batch_waiting_singles
SELECT id, owner FROM search WHERE NOT admitted AND batch_id IS NULL AND state = 'intake' ORDER BY submitted_at, id

-- name: batch_admit
UPDATE search SET admitted = true, granted_rounds = greatest(granted_rounds, $2) WHERE id = $1 AND state = 'intake'
  AND NOT admitted RETURNING id

-- name: batch_grant
UPDATE search SET granted_rounds = $2, reserve_rounds = reserve_rounds + $3
WHERE id = $1 AND state = 'running' AND granted_rounds < $2 AND round = $2 AND stop_reason = '' RETURNING id

-- A round's deadline runs from when it may begin.
-- name: batch_restart_round
UPDATE round SET started_at = now() WHERE search_id = $1 AND round = $2 AND closed_at IS NULL

-- name: batch_stop_search
UPDATE search SET stop_reason = $2 WHERE id = $1 AND state = 'running' AND stop_reason = '' RETURNING id

-- What belongs to a search from its submission on, in a batch or not.
-- name: search_place
UPDATE search SET batch_id = $2, batch_key = $3, level = $4, number = $5, owner = $6, priority = $7, admitted = $8,
  paused_at = CASE WHEN $9::boolean THEN now() END,
  bytes_min = (SELECT p.bytes_min FROM problem p WHERE p.id = search.problem_id)
WHERE id = $1

-- name: search_set_bytes_min
WITH known AS (UPDATE problem SET bytes_min = $2 WHERE id = (SELECT problem_id FROM search WHERE id = $1))
UPDATE search SET bytes_min = $2 WHERE id = $1

-- name: batch_pause_searches
UPDATE search SET paused_at = now() WHERE batch_id = $1 AND state IN ('intake', 'running') AND paused_at IS NULL

-- The deadlines of open rounds move on by the pause.
-- name: batch_resume_searches
WITH resumed AS (
  UPDATE search s SET paused_at = NULL FROM search before
  WHERE s.batch_id = $1 AND before.id = s.id AND before.paused_at IS NOT NULL RETURNING s.id, before.paused_at)
UPDATE round r SET started_at = r.started_at + (now() - resumed.paused_at)
FROM resumed WHERE r.search_id = resumed.id AND r.closed_at IS NULL

-- A task is held while its search is paused or not admitted; its priority follows its search's.
-- name: task_hold_of_batch
UPDATE task t SET held = s.paused_at IS NOT NULL OR NOT s.admitted FROM search s
WHERE s.batch_id = $1 AND t.search_id = s.id AND t.state IN ('available', 'running')
  AND t.held <> (s.paused_at IS NOT NULL OR NOT s.admitted)

-- name: task_hold_of_search
UPDATE task t SET held = s.paused_at IS NOT NULL OR NOT s.admitted FROM search s
WHERE s.id = $1 AND t.search_id = s.id AND t.state IN ('available', 'running')
  AND t.held <> (s.paused_at IS NOT NULL OR NOT s.admitted)

-- name: task_shift_priority
UPDATE task t SET priority = t.priority - 100 * $2::integer FROM search s
WHERE s.batch_id = $1 AND t.search_id = s.id AND t.state IN ('available', 'running')

-- One row a problem, for people.
-- name: batch_problems
WITH mine AS (SELECT * FROM search WHERE batch_id = $1 AND superseded_by IS NULL),
  work AS (SELECT t.search_id, count(*) FILTER (WHERE t.state = 'running') AS running,
             count(*) FILTER (WHERE t.state = 'available') AS waiting
           FROM task t WHERE t.state IN ('available', 'running')
             AND t.search_id IN (SELECT id FROM mine WHERE state IN ('intake', 'running')) GROUP BY t.search_id)
SELECT m.id, m.name, m.level, m.number, m.state, m.error, m.finish_reason, m.settings, m.paused_at IS NOT NULL AS paused,
  m.admitted, m.round, m.granted_rounds, m.best_candidate_id, m.best_ms, m.best_ratio, m.emulated,
  coalesce(w.running, 0) AS running, coalesce(w.waiting, 0) AS waiting
FROM mine m LEFT JOIN work w ON w.search_id = m.id ORDER BY m.level, m.number, m.name, m.id

-- What each search of the batch cost, those of retried problems too.
-- name: batch_usage
WITH mine AS (SELECT id FROM search WHERE batch_id = $1)
SELECT m.id, coalesce(l.usd, 0) + coalesce(r.lost_nano_usd, 0) * 1e-9::double precision AS usd,
  coalesce(l.input_tokens, 0) AS input_tokens, coalesce(l.output_tokens, 0) AS output_tokens, coalesce(l.calls, 0) AS calls,
  coalesce(e.gpu_seconds, 0) AS gpu_seconds, coalesce(r.lost_nano_usd, 0) * 1e-9::double precision AS lost_usd,
  coalesce(r.lost_tokens, 0) AS lost_tokens, coalesce(r.open_nano_usd, 0) * 1e-9::double precision AS open_usd,
  coalesce(r.open_tokens, 0) AS open_tokens
FROM mine m
  LEFT JOIN (SELECT search_id, sum(usd) AS usd, sum(input_tokens)::bigint AS input_tokens,
               sum(output_tokens + reasoning_tokens)::bigint AS output_tokens, count(*) AS calls
             FROM llm_call WHERE search_id IN (SELECT id FROM mine) GROUP BY search_id) l ON l.search_id = m.id
  LEFT JOIN (SELECT search_id, sum(gpu_seconds) AS gpu_seconds FROM evaluation
             WHERE search_id IN (SELECT id FROM mine) GROUP BY search_id) e ON e.search_id = m.id
  LEFT JOIN (SELECT search_id, sum(lost_nano_usd)::bigint AS lost_nano_usd, sum(lost_tokens)::bigint AS lost_tokens,
               (sum(nano_usd) FILTER (WHERE state = 'open'))::bigint AS open_nano_usd,
               (sum(tokens) FILTER (WHERE state = 'open'))::bigint AS open_tokens
             FROM reservation WHERE search_id IN (SELECT id FROM mine) GROUP BY search_id) r ON r.search_id = m.id

-- Why tasks of a search wait: what they need, by kind.
-- name: task_waiting_needs
SELECT kind, device_class, bytes_min, held, count(*) AS count,
  extract(epoch FROM now() - min(created_at))::double precision AS oldest
FROM task WHERE search_id = $1 AND state = 'available' AND run_at <= now()
GROUP BY kind, device_class, bytes_min, held ORDER BY count(*) DESC, kind

-- name: placement_workers
SELECT w.worker_id, w.device, w.draining OR w.draining_wanted AS draining, w.slots, coalesce(t.running, 0) AS running
FROM worker w LEFT JOIN (SELECT owner_worker, count(*) AS running FROM task WHERE state = 'running' GROUP BY owner_worker) t
  ON t.owner_worker = w.worker_id
WHERE w.connected ORDER BY w.worker_id LIMIT 5000
