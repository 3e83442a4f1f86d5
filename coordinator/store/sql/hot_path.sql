-- What runs for every task and result, many rows a statement: handing out, renewing and recording. Plans are kept, and
-- were often made while the tables were small: they must not depend on it. Writes find rows by keys alone (common.sql),
-- and conditions that a partial or wider index would answer are written so that it cannot: a key is the better way.

-- The first in line for a kind of device, oldest first among equals. A device whose memory is not known takes everything.
-- $4: no new problem is taken in. What failed somewhere less than $5 seconds ago says where.
-- name: task_line
SELECT id, priority, problem_id, (extract(epoch FROM run_at) * 1000000)::bigint AS run_at_us,
  CASE WHEN failures + worker_deaths > 0 AND run_at > now() - make_interval(secs => $5::double precision)
    THEN owner_worker ELSE '' END AS failed_at
FROM task
WHERE state = 'available' AND kind IN ('intake', 'evaluate') AND NOT held AND run_at <= now()
  AND (device_class = '' OR device_class = $1) AND ($2::bigint = 0 OR bytes_min <= $2::bigint)
  AND (kind = 'evaluate' OR NOT $4::boolean)
ORDER BY priority, run_at, id LIMIT $3::integer

-- Each task to its own worker, where it is still there for the taking. Ids in ascending order, as whoever else changes
-- many tasks of a search comes upon them.
-- name: task_claim_chosen
UPDATE task t SET state = 'running', epoch = t.epoch + 1, attempts = t.attempts + 1, owner_worker = c.worker,
  owner_boot = c.boot, lease_until = now() + make_interval(secs => $4::double precision),
  deadline = now() + make_interval(secs => t.deadline_seconds), started_at = now()
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS c (id, worker, boot)
WHERE t.id = c.id AND t.state IS NOT DISTINCT FROM 'available' AND NOT t.held AND t.run_at <= now()
  AND t.kind IN ('intake', 'evaluate')
RETURNING t.id, t.epoch, t.kind, t.state, t.search_id, t.candidate_id, t.round, t.stage, t.seed, t.priority, t.device_class,
  t.deadline_seconds, t.owner_worker, t.owner_boot, t.problem_id,
  CASE WHEN t.attempts = 1 THEN extract(epoch FROM now() - t.created_at)::double precision END AS waited

-- What an assignment says beside what all of a search's have in common.
-- name: assignment_sources
SELECT id, source_sha256 FROM candidate WHERE id = ANY ($1::text[])

-- name: assignment_bests
SELECT id, best_candidate_id, best_ms FROM search WHERE id = ANY ($1::text[])

-- task_renew for many owners at once.
-- name: task_renew_many
UPDATE task t SET state = 'running', lease_until = now() + make_interval(secs => $5::double precision),
  deadline = coalesce(t.deadline, t.started_at + make_interval(secs => t.deadline_seconds)),
  worker_deaths = t.worker_deaths - (t.state = 'available')::integer,
  killed_workers = CASE WHEN t.state = 'available' THEN array_remove(t.killed_workers, held.worker) ELSE t.killed_workers END
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS held (worker, boot, id, epoch)
WHERE t.id = held.id AND t.epoch = held.epoch AND t.state IN ('running', 'available')
  AND t.owner_worker = held.worker AND t.owner_boot = held.boot AND t.owner_boot <> ''
RETURNING t.id, t.epoch, t.owner_worker

-- name: workers_seen
UPDATE worker w SET last_seen = now(), draining = seen.draining, connected = seen.connected
FROM unnest($1::text[], $2::text[], $3::boolean[], $4::boolean[]) AS seen (worker_id, boot_id, draining, connected)
WHERE w.worker_id = seen.worker_id AND w.boot_id = seen.boot_id

-- name: search_eager
SELECT id, eager_ms FROM search WHERE id = ANY ($1::text[])

-- The bodies lie one after the other in $16: an array of long texts takes far longer to read.
-- name: evaluations_insert
INSERT INTO evaluation (task_id, epoch, search_id, candidate_id, stage, outcome, reason, median_ms, spread, ratio_to_eager,
  device_name, emulated, worker_id, gpu_seconds, seconds, body, harness_rev, judge_rev, cubin_sha256)
SELECT e.task_id, e.epoch, e.search_id, e.candidate_id, e.stage, e.outcome, e.reason, e.median_ms, e.spread, e.ratio,
  e.device_name, e.emulated, e.worker_id, e.gpu_seconds, e.seconds, substr($16::bytea, e.body_from, e.body_bytes), e.harness_rev, e.judge_rev,
  nullif(e.cubin, '')
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[],
  $8::double precision[], $9::double precision[], $10::double precision[], $11::text[], $12::boolean[], $13::text[],
  $14::double precision[], $15::double precision[], $17::text[], $18::text[], $19::text[], $20::integer[], $21::integer[])
  AS e (task_id, epoch, search_id, candidate_id, stage, outcome, reason, median_ms, spread, ratio, device_name, emulated,
    worker_id, gpu_seconds, seconds, harness_rev, judge_rev, cubin, body_from, body_bytes)
ON CONFLICT (task_id) DO NOTHING RETURNING id, task_id

-- Candidates' results, their cubin where they had none, and which earlier candidate on the same problem and kind of
-- device had that first. No candidate and no cubin may be there twice.
-- name: candidates_set_results
UPDATE candidate d SET state = 'done', evaluation_id = r.evaluation_id, outcome = r.outcome, reason = r.reason,
  message = r.message, median_ms = r.median_ms, spread = r.spread, log_ratio = r.log_ratio, ratio_to_eager = r.ratio,
  finished_at = now(), cubin_sha256 = coalesce(d.cubin_sha256, nullif(r.cubin, '')),
  twin_of = CASE WHEN d.cubin_sha256 IS NOT NULL OR r.cubin = '' THEN d.twin_of ELSE (
    SELECT c.id FROM evaluation e
      CROSS JOIN LATERAL (SELECT o.id, o.seq, o.search_id FROM candidate o
        WHERE o.id = e.candidate_id AND o.cubin_sha256 = r.cubin AND o.twin_of IS NULL AND o.duplicate_of IS NULL OFFSET 0) c
    WHERE e.cubin_sha256 = r.cubin AND e.candidate_id <> d.id AND EXISTS (
      SELECT 1 FROM search cs JOIN search ds ON ds.problem_id IS NOT DISTINCT FROM cs.problem_id
        AND ds.device_class IS NOT DISTINCT FROM cs.device_class
      WHERE cs.id = c.search_id AND ds.id = d.search_id)
    ORDER BY c.search_id <> d.search_id, c.seq LIMIT 1) END
FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::double precision[],
  $7::double precision[], $8::double precision[], $9::double precision[], $10::text[])
  AS r (candidate_id, evaluation_id, outcome, reason, message, median_ms, spread, log_ratio, ratio, cubin)
WHERE d.id = r.candidate_id

-- Those that wait for candidates that did not compile, though their names differ from theirs.
-- name: candidates_release_renamed
WITH released AS (
  UPDATE candidate d SET duplicate_of = NULL, state = 'queued'
  FROM candidate c WHERE d.duplicate_of = ANY ($1::text[]) AND c.id = d.duplicate_of AND d.search_id = c.search_id
    AND d.state = 'evaluating' AND d.normalized_sha256 <> c.normalized_sha256
  RETURNING d.id, d.seq, d.search_id, d.round, d.normalized_sha256, d.renamed_sha256)
SELECT * FROM released ORDER BY seq

-- name: candidates_copy_results
UPDATE candidate d SET state = 'done', evaluation_id = c.evaluation_id, outcome = c.outcome, reason = c.reason,
  message = c.message, median_ms = c.median_ms, spread = c.spread, log_ratio = c.log_ratio,
  ratio_to_eager = c.ratio_to_eager, finished_at = now()
FROM candidate was JOIN candidate c ON c.id = was.duplicate_of
WHERE was.duplicate_of = ANY ($1::text[]) AND d.id = was.id AND NOT d.reused AND c.state = 'done'
RETURNING d.outcome, was.state <> 'done' AS first_verdict

-- The fastest correct candidate by log(anchor / candidate), which is comparable between boards.
-- name: searches_refresh_best
UPDATE search s SET best_candidate_id = b.id, best_ms = coalesce(b.median_ms, 0), best_ratio = coalesce(b.ratio_to_eager, 0)
FROM unnest($1::text[]) AS k (id) JOIN search was ON was.id = k.id LEFT JOIN LATERAL (
  SELECT c.id, c.median_ms, c.ratio_to_eager FROM candidate c WHERE c.search_id = k.id AND c.outcome = 14
  ORDER BY c.log_ratio DESC, c.median_ms, c.seq LIMIT 1) b ON true
WHERE s.id = k.id AND (s.best_candidate_id IS DISTINCT FROM b.id OR s.best_ms IS DISTINCT FROM coalesce(b.median_ms, 0))
RETURNING s.emulated, s.best_ratio,
  NOT s.system AND b.id IS NOT NULL AND was.best_candidate_id IS DISTINCT FROM b.id AND (was.best_candidate_id IS NULL
    OR s.best_ratio > was.best_ratio OR s.best_ratio = 0 AND s.best_ms < was.best_ms) AS improved

-- What the progress line of each search's round says. "Best" runs over the rounds up to it.
-- name: rounds_progress
SELECT k.search_id, k.round, g.generated, g.compiled, g.correct, coalesce(b.median_ms, 0) AS best_ms,
  coalesce(b.ratio_to_eager, 0) AS best_ratio, coalesce(r.median_ms, 0) AS round_best_ms, coalesce(r.title, '') AS title
FROM unnest($1::text[], $2::integer[]) AS k (search_id, round)
JOIN round o ON o.search_id = k.search_id AND o.round = k.round
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE c.state <> 'rejected') AS generated,
    count(*) FILTER (WHERE c.outcome NOT IN (0, 1, 2, 3, 20)) AS compiled, count(*) FILTER (WHERE c.outcome = 14) AS correct
  FROM candidate c WHERE c.search_id = k.search_id AND c.round = k.round) g
LEFT JOIN LATERAL (
  SELECT c.median_ms, c.ratio_to_eager FROM candidate c
  WHERE c.search_id = k.search_id AND c.round <= k.round AND c.outcome = 14
  ORDER BY c.log_ratio DESC, c.round, c.median_ms, c.seq LIMIT 1) b ON true
LEFT JOIN LATERAL (
  SELECT top.median_ms, coalesce(i.title, nullif(top.title, ''), 'injected kernel') AS title
  FROM (SELECT c.median_ms, c.title, c.idea_id FROM candidate c
        WHERE c.search_id = k.search_id AND c.round = k.round AND c.outcome = 14
        ORDER BY c.log_ratio DESC, c.median_ms, c.seq LIMIT 1) top
  LEFT JOIN idea i ON i.id = top.idea_id) r ON true

-- name: events_insert
INSERT INTO event (search_id, line) SELECT e.search_id, e.line FROM unnest($1::text[], $2::text[]) AS e (search_id, line)
