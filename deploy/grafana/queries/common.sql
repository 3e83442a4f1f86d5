-- Variables and annotations that several dashboards share. Grafana replaces $__timeFilter and ${name:sqlstring}.

-- name: annotation_model_change
SELECT first_call_at AS "time",
  CASE WHEN new_model THEN 'new model ' ELSE 'new prompts for ' END || model || ', prompts ' || prompt_version AS text,
  'model' AS tags
FROM view_model_change WHERE $__timeFilter(first_call_at) ORDER BY first_call_at

-- name: annotation_deployment
SELECT at AS "time", component || ' ' || revision || CASE WHEN subject <> '' THEN ' (' || subject || ')' ELSE '' END AS text,
  'deploy' AS tags
FROM view_deployment WHERE $__timeFilter(at) ORDER BY at

-- name: annotation_quarantine
SELECT quarantined_at AS "time", kind || ' task ' || task_id || coalesce(' of ' || problem, '') || ': ' || last_error AS text,
  'quarantine' AS tags
FROM view_quarantined_task WHERE $__timeFilter(quarantined_at) ORDER BY quarantined_at

-- name: annotation_new_best_of_search
SELECT found_at AS "time", to_char(percent_of_eager, 'FM999990.0') || ' % of eager: ' || title AS text, 'new best' AS tags
FROM view_new_best WHERE search_id = ${search:sqlstring} AND $__timeFilter(found_at) ORDER BY found_at

-- name: annotation_new_best_of_batch
SELECT found_at AS "time", problem || ': ' || to_char(percent_of_eager, 'FM999990.0') || ' % of eager' AS text,
  'new best' AS tags
FROM view_new_best
WHERE batch_id = ${batch:sqlstring} AND timed_on = ${timed_on:sqlstring} AND NOT superseded AND $__timeFilter(found_at)
ORDER BY found_at
