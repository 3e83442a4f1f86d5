-- All that the transaction reads is of one moment, however many statements it takes. Its first statement.
-- name: report_snapshot
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ

-- name: report_calls
SELECT kind, model, count(*) AS calls, count(*) FILTER (WHERE error <> '') AS failed,
  coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(output_tokens + reasoning_tokens), 0)::bigint AS output_tokens, coalesce(sum(usd), 0) AS usd,
  coalesce(sum(seconds), 0) AS seconds
FROM llm_call WHERE search_id = $1 GROUP BY kind, model ORDER BY min(created_at), kind, model
