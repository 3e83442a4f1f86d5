-- What models wrote, and what it cost, in the time shown. Searches that verify kernels of the bank are left out.

-- Candidates that are still judged count in none of the shares. Prompts for ideas, code and repairs have versions of their
-- own: the cost is that of the calls that wrote these candidates.
-- name: models_yield
WITH wrote AS (
  SELECT provider, model, prompt_version, count(*) FILTER (WHERE reject_reason IS DISTINCT FROM 'exhausted') AS asked,
    count(*) FILTER (WHERE generated) AS generated, count(*) FILTER (WHERE compiled) AS compiled,
    count(*) FILTER (WHERE correct) AS correct, count(*) FILTER (WHERE faster) AS faster
  FROM view_model_candidate WHERE NOT system AND ended AND timed_on = ${timed_on:sqlstring} AND $__timeFilter(created_at)
  GROUP BY provider, model, prompt_version),
cost AS (
  SELECT l.provider, l.model, l.prompt_version, sum(l.usd) AS usd
  FROM view_model_call l JOIN view_search_status s ON s.search_id = l.search_id
  WHERE s.timed_on = ${timed_on:sqlstring} AND NOT s.system AND $__timeFilter(l.created_at)
  GROUP BY l.provider, l.model, l.prompt_version)
SELECT provider, model, prompt_version AS prompts, asked AS "candidates asked for", generated, compiled, correct, faster,
  generated::double precision / nullif(asked, 0) AS "share with code", compiled::double precision / nullif(generated, 0) AS "share compiled",
  correct::double precision / nullif(generated, 0) AS "share correct", faster::double precision / nullif(generated, 0) AS "share faster",
  usd AS "cost", usd / nullif(correct, 0) AS "cost per correct kernel", usd / nullif(faster, 0) AS "cost per faster kernel"
FROM wrote LEFT JOIN cost USING (provider, model, prompt_version)
ORDER BY faster DESC, correct DESC, provider, model, prompt_version

-- name: models_timed_on
SELECT DISTINCT timed_on FROM view_search_status WHERE timed_on IS NOT NULL ORDER BY timed_on

-- name: models_calls
SELECT provider, model, prompt_version AS prompts, count(*) AS calls, count(*) FILTER (WHERE error_class <> '') AS errors,
  count(*) FILTER (WHERE error_class <> '')::double precision / count(*) AS "share of errors",
  sum(usd) AS "cost", sum(usd) / count(*) AS "cost per call", sum(input_tokens) AS "input tokens",
  sum(output_tokens + reasoning_tokens) AS "output tokens",
  percentile_cont(0.5) WITHIN GROUP (ORDER BY first_byte_seconds) FILTER (WHERE error_class = '' AND first_byte_seconds > 0)
    AS "first byte, median",
  percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE error_class = '') AS "whole, median",
  percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE error_class = '') AS "whole, p95"
FROM view_model_call WHERE $__timeFilter(created_at)
GROUP BY provider, model, prompt_version ORDER BY sum(usd) DESC, count(*) DESC, provider, model, prompt_version
