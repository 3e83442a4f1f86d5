-- name: recording_candidates
SELECT c.id, coalesce(c.idea_id, '') AS idea_id, c.idx, c.repair_attempt, coalesce(c.repair_of, '') AS repair_of,
  c.state = 'rejected' OR (c.duplicate_of IS NOT NULL AND NOT c.reused) AS rejected, c.state, c.outcome, c.reason,
  c.median_ms, c.spread, c.log_ratio, coalesce(e.gpu_seconds, 0) AS gpu_seconds, coalesce(e.seconds, 0) AS seconds
FROM candidate c LEFT JOIN evaluation e ON e.id = c.evaluation_id WHERE c.search_id = $1 ORDER BY c.seq

-- name: recording_calls
SELECT kind, input_tokens + output_tokens + reasoning_tokens AS tokens, usd, seconds
FROM llm_call WHERE search_id = $1 ORDER BY created_at, idempotency_key, position
