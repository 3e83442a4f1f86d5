-- What other searches tried on the problem: a row an idea of which something came, the newest search's last, with its
-- best implementation and its most frequent failure. Outcomes: 14 correct, 20 the machine's fault. all_ideas: those
-- beyond the limit too.
-- name: history_of_problem
WITH tried AS MATERIALIZED (
  SELECT i.id, i.seq, i.body, i.parent_id, s.id AS search_id, s.submitted_at, s.eager_ms, count(*) OVER () AS all_ideas
  FROM search s JOIN idea i ON i.search_id = s.id
  WHERE s.problem_id = $1 AND s.device_class = $2 AND s.emulated = $3::boolean AND s.id <> $4
    AND EXISTS (SELECT 1 FROM candidate c WHERE c.idea_id = i.id
                AND (c.state = 'rejected' AND c.reject_reason <> 'exhausted' OR c.state = 'done' AND c.outcome <> 20))
  ORDER BY s.submitted_at DESC, s.id DESC, i.seq DESC LIMIT $5
)
SELECT t.body, t.all_ideas, coalesce(best.median_ms, 0) AS best_ms,
  coalesce(parent.median_ms, CASE WHEN t.parent_id = '' THEN t.eager_ms ELSE 0 END) AS parent_ms,
  coalesce(failure.outcome, 0) AS outcome, coalesce(failure.reject_reason, '') AS reject_reason,
  coalesce(failure.example, '') AS example
FROM tried t LEFT JOIN candidate parent ON parent.id = t.parent_id
LEFT JOIN LATERAL (SELECT min(c.median_ms) AS median_ms FROM candidate c WHERE c.idea_id = t.id AND c.outcome = 14) best
  ON true
LEFT JOIN LATERAL (
  SELECT c.outcome, c.reject_reason,
    (array_agg(CASE WHEN c.state = 'rejected' THEN c.reject_message ELSE c.message END ORDER BY c.seq DESC))[1] AS example
  FROM candidate c
  WHERE c.idea_id = t.id AND (c.state = 'rejected' AND c.reject_reason <> 'exhausted'
                              OR c.state = 'done' AND c.outcome NOT IN (14, 20))
  GROUP BY c.state, c.outcome, c.reject_reason ORDER BY count(*) DESC, c.outcome, c.reject_reason LIMIT 1) failure
  ON true
ORDER BY t.submitted_at, t.search_id, t.seq
