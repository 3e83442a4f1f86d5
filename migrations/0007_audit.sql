-- Who did what. A row is written in the transaction of the act that it tells of, and never changed.

CREATE TABLE audit (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at         timestamptz NOT NULL DEFAULT now(),
  actor      text NOT NULL,
  role       text NOT NULL,
  peer       text NOT NULL,
  action     text NOT NULL,
  search_id  text NOT NULL DEFAULT '',
  subject    text NOT NULL DEFAULT '',
  detail     text NOT NULL DEFAULT ''
);
CREATE INDEX audit_search ON audit (search_id, id) WHERE search_id <> '';

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of the audit are never changed or removed';
END $$;
CREATE TRIGGER audit_fixed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
