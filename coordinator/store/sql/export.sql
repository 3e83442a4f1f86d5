-- Judged candidates that `warpsmith export` lists: children before parents, those of one idea together. Copies of
-- earlier code are left out.
-- name: export_candidates
SELECT c.id FROM candidate c LEFT JOIN idea i ON i.id = c.idea_id
WHERE c.search_id = $1 AND c.state = 'done' AND c.duplicate_of IS NULL AND c.source_sha256 IS NOT NULL
ORDER BY c.round DESC, i.seq DESC NULLS LAST, c.seq DESC

-- name: export_search_place
SELECT level, number FROM search WHERE id = $1

-- name: export_batch_searches
SELECT id FROM search WHERE batch_id = $1 AND superseded_by IS NULL ORDER BY level, number, name, id

-- The call that wrote a candidate: the last good one of its reservation for its index.
-- name: export_call
SELECT l.provider, l.model, l.effort, l.prompt_version, l.prompt_variant, l.price_id, l.usd, l.input_tokens,
  l.output_tokens + l.reasoning_tokens AS output_tokens
FROM candidate c JOIN llm_call l ON l.reservation_id = c.reservation_id
WHERE c.id = $1 AND l.kind <> 'propose'
ORDER BY l.error <> '', l.position <> CASE l.kind WHEN 'repair' THEN 0 ELSE c.idx END, l.created_at DESC, l.position LIMIT 1
