-- Each proposal asks what other searches tried on its problem.
CREATE INDEX search_problem ON search (problem_id, device_class);
