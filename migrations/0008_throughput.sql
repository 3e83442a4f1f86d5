-- What thousands of results a second need: a row that is updated stays on its page, and no index hears of it.

-- Which candidates compiled to the same module is asked of the evaluations, which are only added.
ALTER TABLE evaluation ADD COLUMN cubin_sha256 text;
UPDATE evaluation e SET cubin_sha256 = c.cubin_sha256 FROM candidate c
WHERE c.id = e.candidate_id AND c.cubin_sha256 IS NOT NULL;
CREATE INDEX evaluation_cubin ON evaluation USING hash (cubin_sha256) WHERE cubin_sha256 IS NOT NULL;
DROP INDEX candidate_cubin;

-- A candidate is written, put into line and judged; in a large search all of a page's are judged in one transaction.
ALTER TABLE candidate SET (fillfactor = 50);

-- Leases are renewed every few seconds, and few tasks run at once: all of them are looked at.
DROP INDEX task_lease;
CREATE INDEX task_running ON task (id) WHERE state = 'running';
