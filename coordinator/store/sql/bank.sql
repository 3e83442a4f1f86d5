-- A confirmed candidate, with what identifies its code and the call that wrote it.
-- name: bank_candidate
SELECT c.*, NULL::bytea AS body, coalesce(i.title, nullif(c.title, ''), 'injected kernel') AS idea_title
FROM candidate c LEFT JOIN idea i ON i.id = c.idea_id WHERE c.id = $1

-- The call that wrote a candidate: the last good one of its reservation for its index.
-- name: bank_call
SELECT l.provider, l.model, l.effort, l.prompt_version, l.prompt_variant
FROM candidate c JOIN llm_call l ON l.reservation_id = c.reservation_id
WHERE c.id = $1 AND l.kind <> 'propose'
ORDER BY l.error <> '', l.position <> CASE l.kind WHEN 'repair' THEN 0 ELSE c.idx END, l.created_at DESC, l.position LIMIT 1

-- One step up the chain that led to a candidate.
-- name: bank_chain_step
SELECT c.search_id, c.parent_id, coalesce(i.title, nullif(c.title, ''), 'injected kernel') AS title,
  coalesce(i.category, '') AS category, coalesce(nullif(i.origin, ''), nullif(c.model, ''), 'operator') AS origin
FROM candidate c LEFT JOIN idea i ON i.id = c.idea_id WHERE c.id = $1

-- name: kernel_same_code
SELECT * FROM kernel WHERE problem_id = $1 AND device_class = $2 AND (code_sha256 = $3 OR module_sha256 = $4)
ORDER BY code_sha256 IS DISTINCT FROM $3, id LIMIT 1 FOR UPDATE

-- name: kernel_insert
INSERT INTO kernel (id, candidate_id, search_id, problem_id, problem_name, operator_family, device_class, emulated,
  median_ms, ratio_to_eager, log_ratio, precision_class, idea_title, source_sha256, champion, state, state_reason,
  code_sha256, module_sha256, harness_rev, judge_rev, device_name, ratio, ratio_low, ratio_high, accepted,
  frozen_weights, confirmed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, false, $15, $16, $17, $18, $19, $20, $21, $22, $23,
  $24, $25, $26, now())

-- What a new confirmation says of a kernel that was there. A name of its module is taken only while no other has it.
-- name: kernel_measured
UPDATE kernel k SET median_ms = $2, ratio_to_eager = $3, log_ratio = $4, precision_class = $5, state = $6,
  state_reason = $7, harness_rev = $8, judge_rev = $9, device_name = $10, ratio = $11, ratio_low = $12, ratio_high = $13,
  confirmed_at = now(),
  module_sha256 = CASE WHEN NOT EXISTS (SELECT 1 FROM kernel o WHERE o.problem_id = k.problem_id
    AND o.device_class = k.device_class AND o.module_sha256 = $14 AND o.id <> k.id) THEN $14 ELSE k.module_sha256 END
WHERE k.id = $1

-- name: kernel_set_state
UPDATE kernel SET state = $2, state_reason = $3 WHERE id = $1

-- The champion of each precision class of a problem on a class of device: the fastest that is trusted.
-- name: kernel_crown
WITH best AS (
  SELECT DISTINCT ON (precision_class) id FROM kernel
  WHERE problem_id = $1 AND device_class = $2 AND state = 'trusted'
  ORDER BY precision_class, log_ratio DESC, admitted_at, id)
UPDATE kernel k SET champion = NOT k.champion
WHERE k.problem_id = $1 AND k.device_class = $2 AND k.champion <> (k.id IN (SELECT id FROM best))

-- What a confirmation of a search compares with: the fastest trusted kernel that the search would accept, but itself.
-- name: kernel_incumbent
SELECT k.source_sha256, k.median_ms FROM kernel k
WHERE k.problem_id = $1 AND k.device_class = $2 AND k.emulated = $3 AND k.state = 'trusted' AND k.precision_class <= $4
  AND (NOT k.frozen_weights OR $5)
  AND k.code_sha256 IS DISTINCT FROM (SELECT c.renamed_sha256 FROM candidate c WHERE c.id = $6) AND k.candidate_id <> $6
ORDER BY k.log_ratio DESC, k.admitted_at, k.id LIMIT 1

-- name: kernel_provenance_insert
INSERT INTO kernel_provenance (kernel_id, origin, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING kernel_id

-- name: kernel_provenance_of
SELECT body FROM kernel_provenance WHERE kernel_id = $1 ORDER BY seq LIMIT 200

-- name: kernel_check_insert
INSERT INTO kernel_check (kernel_id, search_id, evaluation_id, verdict, message, harness_rev, judge_rev, device_name,
  median_ms, ratio, ratio_low, ratio_high)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (evaluation_id) DO NOTHING

-- name: kernel_checks_of
SELECT *, (extract(epoch FROM created_at) * 1000000)::bigint AS at_us FROM kernel_check
WHERE kernel_id = $1 ORDER BY id DESC LIMIT 50

-- name: kernel_admitted_by
SELECT count(*) FILTER (WHERE verdict = 'admitted') AS admitted, count(DISTINCT kernel_id) AS kernels
FROM kernel_check WHERE search_id = $1

-- name: kernel_list
SELECT k.*, (extract(epoch FROM k.admitted_at) * 1000000)::bigint AS admitted_us,
  (SELECT count(*) FROM kernel_provenance p WHERE p.kernel_id = k.id) AS found
FROM kernel k
WHERE ($1 = '' OR k.operator_family = $1) AND ($2 = '' OR k.device_class = $2) AND k.emulated = $3
  AND ($4 = '' OR k.problem_name = $4 OR k.problem_id = $4) AND k.state IN ('trusted', 'stale')
ORDER BY k.operator_family, k.log_ratio DESC, k.champion DESC, k.admitted_at, k.id LIMIT $5

-- name: kernel_by_prefix
SELECT id FROM kernel WHERE id LIKE $1 || '%' OR candidate_id LIKE $1 || '%'
UNION SELECT id FROM kernel_pending WHERE $2::boolean AND id LIKE $1 || '%'
ORDER BY id LIMIT 2

-- name: kernel_get
SELECT k.*, p.source_sha256 AS problem_sha256, p.intake_settings, p.signature, p.name AS p_name,
  (extract(epoch FROM k.admitted_at) * 1000000)::bigint AS admitted_us,
  (SELECT count(*) FROM kernel_provenance o WHERE o.kernel_id = k.id) AS found
FROM kernel k JOIN problem p ON p.id = k.problem_id WHERE k.id = $1

-- Kernels that a filter means: family, problem, device class, ids, champions only, states, emulated or not (null: both).
-- name: kernel_select
SELECT k.* FROM kernel k
WHERE ($1 = '' OR k.operator_family = $1) AND ($2 = '' OR k.problem_name = $2 OR k.problem_id = $2)
  AND ($3 = '' OR k.device_class = $3) AND (cardinality($4::text[]) = 0 OR k.id = ANY ($4::text[]))
  AND (NOT $5::boolean OR k.champion) AND k.state = ANY ($6::text[]) AND ($7::boolean IS NULL OR k.emulated = $7::boolean)
ORDER BY k.operator_family, k.problem_id, k.device_class, k.log_ratio DESC, k.id LIMIT $8

-- Kernels of other problems that a search may begin from: each problem's fastest that the search would accept.
-- name: kernel_neighbours
SELECT * FROM (
  SELECT DISTINCT ON (k.problem_id) k.id, k.problem_id, k.log_ratio, k.state, p.signature
  FROM kernel k JOIN problem p ON p.id = k.problem_id
  WHERE k.operator_family = $1 AND k.device_class = $2 AND k.emulated = $3 AND k.problem_id <> $4
    AND k.state IN ('trusted', 'stale') AND k.precision_class <= $5 AND (NOT k.frozen_weights OR $6)
  ORDER BY k.problem_id, k.state <> 'trusted', k.log_ratio DESC, k.id) best
ORDER BY log_ratio DESC, id LIMIT 500

-- name: search_seed_clear
DELETE FROM search_seed WHERE search_id = $1

-- name: search_seed_insert
INSERT INTO search_seed (search_id, position, kernel_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING

-- name: search_seed_of
SELECT k.candidate_id, k.problem_name, k.ratio_to_eager, k.idea_title, k.source_sha256, coalesce(i.category, '') AS category
FROM search_seed s JOIN kernel k ON k.id = s.kernel_id JOIN candidate c ON c.id = k.candidate_id
  LEFT JOIN idea i ON i.id = c.idea_id
WHERE s.search_id = $1 AND k.state IN ('trusted', 'stale') ORDER BY s.position LIMIT $2

-- name: bank_revision_get
SELECT harness_rev, judge_rev FROM bank_revision WHERE device_class = $1

-- name: bank_revision_lock
INSERT INTO bank_revision (device_class, harness_rev, judge_rev) VALUES ($1, '', '')
ON CONFLICT (device_class) DO UPDATE SET device_class = excluded.device_class RETURNING harness_rev, judge_rev

-- name: bank_revision_set
UPDATE bank_revision SET harness_rev = $2, judge_rev = $3, updated_at = now() WHERE device_class = $1

-- Those confirmed by another revision than the newest are stale, and no champions.
-- name: kernel_make_stale
UPDATE kernel SET state = 'stale', champion = false,
  state_reason = 'confirmed by harness ' || harness_rev || ' and judge ' || judge_rev || '; now there are '
                 || $2::text || ' and ' || $3::text
WHERE device_class = $1 AND state = 'trusted' AND (harness_rev <> $2 OR judge_rev <> $3)
RETURNING id

-- name: pending_insert
INSERT INTO kernel_pending (id, kind, state, reason, problem_id, problem_name, device_class, operator_family, emulated,
  candidate_id, search_id, title, model, source_sha256, code_sha256, accepted, frozen_weights, median_ms, body)
VALUES ($1, $2, 'waiting', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT DO NOTHING RETURNING id

-- name: pending_same_code
SELECT id, state FROM kernel_pending WHERE problem_id = $1 AND device_class = $2 AND code_sha256 = $3

-- name: pending_get
SELECT * FROM kernel_pending WHERE id = $1 FOR UPDATE

-- name: pending_set_state
UPDATE kernel_pending SET state = $2, reason = $3 WHERE id = $1

-- name: pending_delete
DELETE FROM kernel_pending WHERE problem_id = $1 AND device_class = $2 AND code_sha256 = $3

-- name: pending_select
SELECT * FROM kernel_pending p
WHERE ($1 = '' OR p.operator_family = $1) AND ($2 = '' OR p.problem_name = $2 OR p.problem_id = $2)
  AND ($3 = '' OR p.device_class = $3) AND (cardinality($4::text[]) = 0 OR p.id = ANY ($4::text[]))
ORDER BY p.problem_id, p.device_class, p.created_at, p.id LIMIT $5

-- The fastest stale kernel of each precision class: what searches would compare with.
-- name: kernel_stale_champions
SELECT DISTINCT ON (precision_class) * FROM kernel WHERE problem_id = $1 AND device_class = $2 AND state = 'stale'
ORDER BY precision_class, log_ratio DESC, id

-- What is not in the bank, or not trusted: pending rows, then kernels by what is wrong with them.
-- name: pending_list
SELECT p.id, p.kind, p.problem_name, p.device_class, coalesce(p.candidate_id, '') AS candidate_id,
  coalesce(p.search_id, '') AS search_id, p.median_ms, p.reason, p.emulated,
  (extract(epoch FROM p.created_at) * 1000000)::bigint AS since_us,
  EXISTS (SELECT 1 FROM kernel_verification v WHERE v.pending_id = p.id AND v.finished_at IS NULL) AS verifying
FROM kernel_pending p
UNION ALL
SELECT k.id, k.state, k.problem_name, k.device_class, k.candidate_id, k.search_id, k.median_ms, k.state_reason, k.emulated,
  (extract(epoch FROM coalesce(k.confirmed_at, k.admitted_at)) * 1000000)::bigint,
  EXISTS (SELECT 1 FROM kernel_verification v WHERE v.kernel_id = k.id AND v.finished_at IS NULL)
FROM kernel k WHERE k.state <> 'trusted'
ORDER BY since_us DESC, id LIMIT $1

-- name: verification_search_insert
INSERT INTO search (id, name, problem_id, submitted_by, state, settings, strategy, seed, device_class, system)
SELECT $1, $2, p.id, $4, 'intake', $5, 'verify', $6, $7, true FROM problem p WHERE p.id = $3

-- name: verification_candidate_insert
INSERT INTO candidate (id, search_id, round, title, model, source_sha256, normalized_sha256, renamed_sha256, state)
VALUES ($1, $2, 1, $3, $4, $5, $6, $7, 'queued')

-- name: verification_insert
INSERT INTO kernel_verification (candidate_id, search_id, kernel_id, pending_id, requested_by) VALUES ($1, $2, $3, $4, $5)

-- Of these kernels and pending ones, those under verification.
-- name: verification_open
SELECT coalesce(kernel_id, '') AS kernel_id, coalesce(pending_id, '') AS pending_id, search_id FROM kernel_verification
WHERE finished_at IS NULL AND (kernel_id = ANY ($1::text[]) OR pending_id = ANY ($1::text[]))

-- One that was given up counts after all where its task was tried again.
-- name: verification_get
SELECT * FROM kernel_verification WHERE candidate_id = $1 AND (finished_at IS NULL OR verdict = 'given_up') FOR UPDATE

-- name: verification_finish
UPDATE kernel_verification SET finished_at = now(), verdict = $2, message = $3, old_ms = $4, new_ms = $5, old_ratio = $6,
  new_ratio = $7
WHERE candidate_id = $1 AND (finished_at IS NULL OR verdict = 'given_up')

-- name: verification_unfinished
SELECT v.*, c.reason, c.message AS candidate_message FROM kernel_verification v JOIN candidate c ON c.id = v.candidate_id
WHERE v.search_id = $1 AND v.finished_at IS NULL FOR UPDATE OF v

-- name: verification_list
SELECT v.*, s.name AS problem_name, s.device_class, (extract(epoch FROM v.requested_at) * 1000000)::bigint AS requested_us,
  coalesce((extract(epoch FROM v.finished_at) * 1000000)::bigint, 0) AS finished_us
FROM kernel_verification v JOIN search s ON s.id = v.search_id
WHERE cardinality($1::text[]) = 0 OR v.search_id = ANY ($1::text[])
ORDER BY v.requested_at DESC, v.candidate_id LIMIT $2

-- Whether anybody could run a task of the class now.
-- name: bank_class_workers
SELECT count(*) FILTER (WHERE connected AND NOT draining) AS connected, count(*) AS known FROM worker WHERE device_class = $1

-- name: bank_candidate_codes
SELECT normalized_sha256, renamed_sha256 FROM candidate WHERE source_sha256 = $1 AND renamed_sha256 IS NOT NULL LIMIT 1
