-- name: problem_upsert
INSERT INTO problem (id, name, source_sha256, intake_settings) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING

-- name: problem_set_signature
UPDATE problem SET signature = $2, operator_family = $3 WHERE id = $1

-- name: search_insert
INSERT INTO search (id, name, problem_id, request_id, submitted_by, state, settings, strategy, seed, device_class)
VALUES ($1, $2, $3, $4, $5, 'intake', $6, $7, $8, $9)
ON CONFLICT (request_id) DO NOTHING RETURNING id

-- name: search_by_request
SELECT id FROM search WHERE request_id = $1

-- name: search_by_prefix
SELECT id FROM search WHERE id LIKE $1 || '%' ORDER BY id LIMIT 2

-- name: search_get
SELECT s.*, p.source_sha256, p.intake_settings,
  (extract(epoch FROM s.submitted_at) * 1000000)::bigint AS submitted_us,
  coalesce((extract(epoch FROM s.finished_at) * 1000000)::bigint, 0) AS finished_us
FROM search s JOIN problem p ON p.id = s.problem_id WHERE s.id = $1

-- name: search_lock
SELECT id FROM search WHERE id = $1 FOR NO KEY UPDATE

-- Searches are locked before their tasks and candidates everywhere, so that transactions do not wait in a ring.
-- name: search_lock_of_tasks
SELECT id FROM search WHERE id IN (SELECT search_id FROM task WHERE id = ANY ($1::bigint[])) ORDER BY id FOR NO KEY UPDATE

-- name: search_active
SELECT id FROM search WHERE state IN ('intake', 'running') ORDER BY submitted_at, id

-- name: search_running
SELECT id FROM search WHERE state = 'running' ORDER BY submitted_at, id

-- name: search_list
SELECT id FROM search WHERE ($1 = '' OR state = $1) AND (NOT system OR $3) ORDER BY submitted_at DESC, id LIMIT $2

-- name: search_start
UPDATE search SET state = 'running', signature = $2, operator_family = $3, device = $4, device_class = $5, emulated = $6,
  eager_ms = $7, round = 1, reuse_key = $8, harness_rev = $9
WHERE id = $1 AND state = 'intake' RETURNING id

-- name: search_end
UPDATE search SET state = $2, error = $3, finish_reason = $4, finished_at = now()
WHERE id = $1 AND state IN ('intake', 'running') RETURNING id

-- name: search_set_round
UPDATE search SET round = $2 WHERE id = $1

-- name: search_next_decision
UPDATE search SET decision_seq = decision_seq + 1 WHERE id = $1 AND decision_seq = $2 RETURNING decision_seq

-- name: baseline_insert
INSERT INTO baseline (search_id, name, problem_id, device_class, device_name, emulated, harness_rev, pytorch_version,
  median_ms, spread, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING

-- name: baseline_of_search
SELECT body FROM baseline WHERE search_id = $1 ORDER BY name

-- name: round_open
INSERT INTO round (search_id, round, started_at, best_before_ms)
VALUES ($1, $2, to_timestamp($3::double precision / 1000000), $4) ON CONFLICT DO NOTHING

-- name: round_close
UPDATE round SET closed_at = to_timestamp($3::double precision / 1000000)
WHERE search_id = $1 AND round = $2 AND closed_at IS NULL

-- name: round_started
SELECT (extract(epoch FROM started_at) * 1000000)::bigint AS started_us FROM round WHERE search_id = $1 AND round = $2

-- Outcomes 0 to 3 and 20: not there yet, plan error, compile error, needs a GPU, the machine's fault. 14: correct.
-- name: round_summaries
SELECT r.round, r.best_before_ms, coalesce((extract(epoch FROM r.closed_at) * 1000000)::bigint, 0) AS closed_us,
  (SELECT count(*) FROM idea i WHERE i.search_id = r.search_id AND i.round = r.round) AS ideas,
  count(c.id) FILTER (WHERE c.state <> 'rejected') AS generated,
  count(c.id) FILTER (WHERE c.state = 'done') AS evaluated,
  count(c.id) FILTER (WHERE c.outcome NOT IN (0, 1, 2, 3, 20)) AS compiled,
  count(c.id) FILTER (WHERE c.outcome = 14) AS correct,
  count(c.id) FILTER (WHERE c.outcome = 14 AND c.median_ms < r.best_before_ms) AS faster
FROM round r LEFT JOIN candidate c ON c.search_id = r.search_id AND c.round = r.round
WHERE r.search_id = $1 GROUP BY r.search_id, r.round ORDER BY r.round

-- name: round_bests
SELECT DISTINCT ON (c.round) c.round, c.id, c.median_ms, c.ratio_to_eager, c.log_ratio,
  coalesce(i.title, nullif(c.title, ''), 'injected kernel') AS title
FROM candidate c LEFT JOIN idea i ON i.id = c.idea_id
WHERE c.search_id = $1 AND c.outcome = 14
ORDER BY c.round, c.log_ratio DESC, c.median_ms, c.seq

-- name: idea_titles
SELECT round, title FROM idea WHERE search_id = $1 ORDER BY seq

-- name: idea_insert
INSERT INTO idea (id, search_id, parent_id, round, propose_task_id, position, request_id, category, title, origin, body,
  requested, operator_injected, reservation_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING RETURNING id

-- name: idea_by_request
SELECT id FROM idea WHERE search_id = $1 AND request_id = $2

-- name: idea_of_search
SELECT i.*, (SELECT count(*) FROM candidate c WHERE c.idea_id = i.id AND c.repair_attempt = 0) AS delivered
FROM idea i WHERE i.search_id = $1 ORDER BY i.seq

-- name: idea_get
SELECT i.*, (SELECT count(*) FROM candidate c WHERE c.idea_id = i.id AND c.repair_attempt = 0) AS delivered
FROM idea i WHERE i.id = $1

-- name: idea_add_requested
UPDATE idea SET requested = requested + $2 WHERE id = $1

-- name: decision_insert
INSERT INTO decision (search_id, seq, strategy, snapshot_hash, seed, now_us, actions)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)
