-- name: audit_insert
INSERT INTO audit (actor, role, peer, action, search_id, subject, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: audit_list
SELECT id, (extract(epoch FROM at) * 1000000)::bigint AS at_us, actor, role, peer, action, search_id, subject, detail
FROM audit WHERE $1::text IS NULL OR search_id = $1 ORDER BY id DESC LIMIT $2
