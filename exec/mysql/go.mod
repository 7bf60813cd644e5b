module github.com/texttosql/texttosql/exec/mysql

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/google/go-cmp v0.7.0
	github.com/sqlc-dev/marino v0.3.1
	github.com/texttosql/texttosql v0.1.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.19.0 // indirect
)
