-- name: budget_reserve
SELECT * FROM reserve_budget($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: budget_close
SELECT close_reservation($1, $2)

-- name: budget_abandon_of_task
SELECT close_reservation(id, true) FROM reservation WHERE task_id = $1 AND state = 'open' ORDER BY id

-- name: budget_abandon_all
SELECT close_reservation(id, true) FROM reservation WHERE state = 'open' ORDER BY id

-- Set aside for this very call by a commit of which nobody heard: it was never made.
-- name: budget_release_unused
SELECT close_reservation(id, false) FROM reservation
WHERE idempotency_key = $1 AND task_id = $2 AND epoch = $3 AND state = 'open' ORDER BY id

-- name: budget_mark_spent
INSERT INTO budget (scope, id, spent) VALUES ('search', $1, true)
ON CONFLICT (scope, id) DO UPDATE SET spent = true WHERE NOT budget.spent RETURNING id

-- name: budget_of
SELECT scope, max_nano_usd, max_tokens, used_nano_usd, used_tokens, reserved_nano_usd, reserved_tokens, spent FROM budget
WHERE (scope, id) IN (('batch', $1), ('day', $2), ('search', $3)) ORDER BY scope

-- name: budget_put_batch
INSERT INTO budget (scope, id, max_nano_usd, max_tokens) VALUES ('batch', $1, $2, $3)
ON CONFLICT (scope, id) DO UPDATE SET max_nano_usd = excluded.max_nano_usd, max_tokens = excluded.max_tokens

-- The arm that a call of this key was first made with.
-- name: reservation_arm
SELECT arm FROM reservation WHERE idempotency_key = $1 AND arm <> '' ORDER BY id LIMIT 1

-- name: llm_call_insert
INSERT INTO llm_call (idempotency_key, position, search_id, task_id, kind, round, provider, model, prompt_version,
  prompt_sha256, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, usd, first_byte_seconds, seconds,
  tries, finish_reason, error, raw_reply, reservation_id, cache_write_5m_tokens, cache_write_1h_tokens, price_id,
  estimated, effort, prompt_variant, error_class, kept)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
  $25, $26, $27, $28, $29, $30)
ON CONFLICT DO NOTHING

-- Every call that was recorded, and what calls that were given up are charged with beyond that.
-- name: search_usage
SELECT l.usd + r.lost_nano_usd * 1e-9::double precision AS usd, l.input_tokens, l.output_tokens, l.calls, e.gpu_seconds,
  r.lost_nano_usd * 1e-9::double precision AS lost_usd, r.lost_tokens,
  r.open_nano_usd * 1e-9::double precision AS open_usd, r.open_tokens
FROM (SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(input_tokens), 0) AS input_tokens,
        coalesce(sum(output_tokens + reasoning_tokens), 0) AS output_tokens, count(*) AS calls
      FROM llm_call WHERE search_id = $1) l,
     (SELECT coalesce(sum(gpu_seconds), 0) AS gpu_seconds FROM evaluation WHERE search_id = $1) e,
     (SELECT coalesce(sum(lost_nano_usd), 0)::bigint AS lost_nano_usd, coalesce(sum(lost_tokens), 0)::bigint AS lost_tokens,
        coalesce(sum(nano_usd) FILTER (WHERE state = 'open'), 0)::bigint AS open_nano_usd,
        coalesce(sum(tokens) FILTER (WHERE state = 'open'), 0)::bigint AS open_tokens
      FROM reservation WHERE search_id = $1) r

-- What each arm was asked for, oldest first. Closed: what has not come of it will not come. What comparing ideas costs
-- is no arm's. Each part reads what the search has, once.
-- name: arm_pulls
SELECT max(arm) AS arm, max(kind) AS kind, max(pulls) AS pulls, bool_or(closed) AS closed, sum(delivered)::bigint AS delivered,
  sum(calls)::bigint AS calls, coalesce(sum(usd::numeric), 0)::double precision AS usd
FROM (
  SELECT id, arm, kind, pulls, state <> 'open' AS closed, 0 AS delivered, 0 AS calls, NULL::double precision AS usd
  FROM reservation WHERE search_id = $1 AND arm <> '' AND (kind = 'propose') = $2::boolean
  UNION ALL
  SELECT reservation_id, NULL, NULL, NULL, NULL, 1, 0, NULL FROM idea
  WHERE search_id = $1 AND reservation_id IS NOT NULL AND $2::boolean
  UNION ALL
  SELECT reservation_id, NULL, NULL, NULL, NULL, 1, 0, NULL FROM candidate
  WHERE search_id = $1 AND reservation_id IS NOT NULL AND NOT $2::boolean
  UNION ALL
  SELECT reservation_id, NULL, NULL, NULL, NULL, 0, 1, usd FROM llm_call
  WHERE search_id = $1 AND reservation_id IS NOT NULL AND prompt_version <> 'embedding') part
GROUP BY id HAVING max(arm) IS NOT NULL ORDER BY id

-- What came of each implementation, in the order of the verdicts. Speedups are over PyTorch; the parent's counts where
-- it was measured on the same problem. What the machine or a missing GPU is to blame for says nothing of a model.
-- name: arm_code_results
SELECT r.arm, c.outcome = 14 AND c.reason <> 'screened' AND (c.duplicate_of IS NULL OR c.reused) AS success,
  c.ratio_to_eager AS ratio, CASE WHEN p.outcome = 14 AND s.problem_id = ps.problem_id THEN p.ratio_to_eager ELSE 0 END
    AS parent_ratio
FROM candidate c JOIN reservation r ON r.id = c.reservation_id JOIN search s ON s.id = c.search_id
  LEFT JOIN candidate p ON p.id = c.parent_id LEFT JOIN search ps ON ps.id = p.search_id
WHERE c.search_id = $1 AND r.arm <> '' AND c.state IN ('done', 'rejected') AND c.outcome NOT IN (3, 20)
ORDER BY c.finished_at, c.seq

-- What came of each idea: the best of its implementations, once some were judged and none is under way.
-- name: arm_idea_results
SELECT r.arm, coalesce(max(c.ratio_to_eager) FILTER (WHERE c.outcome = 14 AND c.reason <> 'screened'
    AND (c.duplicate_of IS NULL OR c.reused)), 0) AS ratio,
  max(CASE WHEN p.outcome = 14 AND s.problem_id = ps.problem_id THEN p.ratio_to_eager ELSE 0 END) AS parent_ratio
FROM idea i JOIN reservation r ON r.id = i.reservation_id JOIN search s ON s.id = i.search_id
  JOIN candidate c ON c.idea_id = i.id
  LEFT JOIN candidate p ON p.id = i.parent_id LEFT JOIN search ps ON ps.id = p.search_id
WHERE i.search_id = $1 AND r.arm <> ''
GROUP BY i.id, i.seq, r.arm
HAVING count(*) FILTER (WHERE c.state IN ('queued', 'evaluating')) = 0
  AND count(*) FILTER (WHERE c.outcome NOT IN (3, 20)) > 0
ORDER BY max(c.finished_at), i.seq
