-- The permanent record: problems, searches, the tree of ideas and candidates, what became of them, and the bank.
-- Protocol Buffers messages are kept whole in bytea columns (body, settings, signature, device); what queries and
-- dashboards need stands in columns of its own beside them. Times are milliseconds, instants timestamptz.

CREATE TABLE leader (
  id          integer PRIMARY KEY CHECK (id = 1),
  term        bigint NOT NULL,
  holder      text NOT NULL,
  elected_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO leader (id, term, holder) VALUES (1, 0, '');

-- The fence: each write transaction of a coordinator calls it first. The shared lock is held to the transaction's end
-- and an election takes the exclusive one, so no write of an older term can commit after a newer one began.
CREATE FUNCTION check_term(expected bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE current_term bigint; current_holder text;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7710452, 2);
  SELECT term, holder INTO current_term, current_holder FROM leader WHERE id = 1;
  IF current_term IS DISTINCT FROM expected THEN
    RAISE EXCEPTION 'term % is over: coordinator % leads since term %', expected, current_holder, current_term
      USING ERRCODE = 'WS001';
  END IF;
END $$;

CREATE TABLE blob (
  sha256      text PRIMARY KEY CHECK (length(sha256) = 64),
  size        bigint NOT NULL,
  data        bytea NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE problem (
  id              text PRIMARY KEY,
  name            text NOT NULL,
  source_sha256   text NOT NULL REFERENCES blob,
  intake_settings bytea NOT NULL,
  signature       bytea,
  operator_family text NOT NULL DEFAULT '',
  created_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE batch (
  id           text PRIMARY KEY,
  name         text NOT NULL,
  submitted_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE search (
  id                 text PRIMARY KEY,
  name               text NOT NULL,
  problem_id         text NOT NULL REFERENCES problem,
  batch_id           text REFERENCES batch,
  request_id         text UNIQUE,
  submitted_by       text NOT NULL DEFAULT '',
  state              text NOT NULL CHECK (state IN ('intake', 'running', 'done', 'cancelled', 'failed')),
  error              text NOT NULL DEFAULT '',
  finish_reason      text NOT NULL DEFAULT '',
  settings           bytea NOT NULL,
  strategy           text NOT NULL,
  seed               bigint NOT NULL,
  signature          bytea,
  operator_family    text NOT NULL DEFAULT '',
  device             bytea,
  device_class       text NOT NULL DEFAULT '',
  emulated           boolean NOT NULL DEFAULT false,
  eager_ms           double precision NOT NULL DEFAULT 0,
  round              integer NOT NULL DEFAULT 0,
  decision_seq       bigint NOT NULL DEFAULT 0,
  best_candidate_id  text,
  best_ms            double precision NOT NULL DEFAULT 0,
  best_ratio         double precision NOT NULL DEFAULT 0,
  submitted_at       timestamptz NOT NULL DEFAULT now(),
  finished_at        timestamptz
);
CREATE INDEX search_prefix ON search (id text_pattern_ops);
CREATE INDEX search_active ON search (submitted_at) WHERE state IN ('intake', 'running');
CREATE INDEX search_submitted ON search (submitted_at DESC);

CREATE TABLE baseline (
  search_id       text NOT NULL REFERENCES search,
  name            text NOT NULL,
  problem_id      text NOT NULL REFERENCES problem,
  device_class    text NOT NULL,
  device_name     text NOT NULL,
  emulated        boolean NOT NULL,
  harness_rev     text NOT NULL,
  pytorch_version text NOT NULL,
  median_ms       double precision NOT NULL,
  spread          double precision NOT NULL,
  body            bytea NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (search_id, name)
);

CREATE TABLE round (
  search_id      text NOT NULL REFERENCES search,
  round          integer NOT NULL,
  started_at     timestamptz NOT NULL,
  closed_at      timestamptz,
  best_before_ms double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (search_id, round)
);

CREATE TABLE idea (
  seq                bigint GENERATED ALWAYS AS IDENTITY,
  id                 text PRIMARY KEY,
  search_id          text NOT NULL REFERENCES search,
  parent_id          text NOT NULL DEFAULT '',
  round              integer NOT NULL,
  propose_task_id    bigint,
  position           integer NOT NULL DEFAULT 0,
  request_id         text,
  category           text NOT NULL,
  title              text NOT NULL,
  origin             text NOT NULL,
  body               bytea NOT NULL,
  requested          integer NOT NULL DEFAULT 0,
  operator_injected  boolean NOT NULL DEFAULT false,
  created_at         timestamptz NOT NULL DEFAULT now(),
  UNIQUE (propose_task_id, position),
  UNIQUE (search_id, request_id)
);
CREATE INDEX idea_search ON idea (search_id, seq);

CREATE TABLE candidate (
  seq               bigint GENERATED ALWAYS AS IDENTITY,
  id                text PRIMARY KEY,
  search_id         text NOT NULL REFERENCES search,
  idea_id           text REFERENCES idea,
  parent_id         text NOT NULL DEFAULT '',
  round             integer NOT NULL,
  idx               integer NOT NULL DEFAULT 0,
  repair_attempt    integer NOT NULL DEFAULT 0,
  repair_of         text REFERENCES candidate,
  request_id        text,
  title             text NOT NULL DEFAULT '',
  model             text NOT NULL DEFAULT '',
  source_sha256     text REFERENCES blob,
  normalized_sha256 text,
  duplicate_of      text REFERENCES candidate,
  state             text NOT NULL CHECK (state IN ('queued', 'evaluating', 'done', 'rejected')),
  reject_reason     text NOT NULL DEFAULT '',
  reject_message    text NOT NULL DEFAULT '',
  evaluation_id     bigint,
  outcome           integer NOT NULL DEFAULT 0,
  reason            text NOT NULL DEFAULT '',
  message           text NOT NULL DEFAULT '',
  median_ms         double precision NOT NULL DEFAULT 0,
  spread            double precision NOT NULL DEFAULT 0,
  log_ratio         double precision NOT NULL DEFAULT 0,
  ratio_to_eager    double precision NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL DEFAULT now(),
  finished_at       timestamptz,
  UNIQUE (idea_id, idx, repair_attempt),
  UNIQUE (repair_of, repair_attempt),
  UNIQUE (search_id, request_id)
);
CREATE INDEX candidate_search ON candidate (search_id, seq);
CREATE INDEX candidate_prefix ON candidate (id text_pattern_ops);
CREATE INDEX candidate_normalized ON candidate (search_id, normalized_sha256);
CREATE INDEX candidate_duplicate ON candidate (duplicate_of) WHERE duplicate_of IS NOT NULL;

CREATE TABLE evaluation (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id        bigint NOT NULL UNIQUE,
  epoch          bigint NOT NULL,
  search_id      text NOT NULL REFERENCES search,
  candidate_id   text NOT NULL REFERENCES candidate,
  stage          text NOT NULL,
  outcome        integer NOT NULL,
  reason         text NOT NULL,
  median_ms      double precision NOT NULL,
  spread         double precision NOT NULL,
  ratio_to_eager double precision NOT NULL,
  device_name    text NOT NULL,
  emulated       boolean NOT NULL,
  worker_id      text NOT NULL,
  gpu_seconds    double precision NOT NULL,
  seconds        double precision NOT NULL,
  body           bytea NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX evaluation_search ON evaluation (search_id);
CREATE INDEX evaluation_candidate ON evaluation (candidate_id);

-- The bank. Emulated kernels are flagged and never listed with a GPU's.
CREATE TABLE kernel (
  id               text PRIMARY KEY,
  candidate_id     text NOT NULL UNIQUE REFERENCES candidate,
  search_id        text NOT NULL REFERENCES search,
  problem_id       text NOT NULL REFERENCES problem,
  problem_name     text NOT NULL,
  operator_family  text NOT NULL,
  device_class     text NOT NULL,
  emulated         boolean NOT NULL,
  median_ms        double precision NOT NULL,
  ratio_to_eager   double precision NOT NULL,
  log_ratio        double precision NOT NULL,
  precision_class  integer NOT NULL,
  idea_title       text NOT NULL,
  source_sha256    text NOT NULL REFERENCES blob,
  champion         boolean NOT NULL,
  admitted_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX kernel_family ON kernel (operator_family, device_class, log_ratio DESC);

-- One row a model call. Position: which call of the request, or which implementation's index.
CREATE TABLE llm_call (
  idempotency_key     text NOT NULL,
  position            integer NOT NULL,
  search_id           text NOT NULL REFERENCES search,
  task_id             bigint NOT NULL,
  kind                text NOT NULL,
  round               integer NOT NULL,
  provider            text NOT NULL,
  model               text NOT NULL,
  prompt_version      text NOT NULL,
  prompt_sha256       text NOT NULL,
  input_tokens        bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  output_tokens       bigint NOT NULL,
  reasoning_tokens    bigint NOT NULL,
  usd                 double precision NOT NULL,
  first_byte_seconds  double precision NOT NULL,
  seconds             double precision NOT NULL,
  tries               integer NOT NULL,
  finish_reason       text NOT NULL,
  error               text NOT NULL,
  raw_reply           bytea NOT NULL,
  created_at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (idempotency_key, position)
);
CREATE INDEX llm_call_search ON llm_call (search_id);

-- What was decided, on which snapshot: a search can be replayed from here.
CREATE TABLE decision (
  search_id     text NOT NULL REFERENCES search,
  seq           bigint NOT NULL,
  strategy      text NOT NULL,
  snapshot_hash text NOT NULL,
  seed          bigint NOT NULL,
  now_us        bigint NOT NULL,
  actions       jsonb NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (search_id, seq)
);

-- Lines for people, in order.
CREATE TABLE event (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  search_id  text NOT NULL REFERENCES search,
  line       text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX event_search ON event (search_id, id);
