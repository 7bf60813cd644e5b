module github.com/texttosql/texttosql/exec/postgres

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/sqlc-dev/oliphant v0.2.0
	github.com/texttosql/texttosql v0.1.0
)
