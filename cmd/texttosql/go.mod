module github.com/texttosql/texttosql/cmd/texttosql

go 1.26.0
