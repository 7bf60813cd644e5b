package otelsql_test

import (
	"database/sql"
	"testing"

	wrapper "github.com/XSAM/otelsql"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/drivers/drivertest"
	"github.com/texttosql/texttosql/examples/drivers/otelsql"
)

func Test(t *testing.T) {
	drivertest.Driver{
		Open:   func(file string) (*sql.DB, error) { return wrapper.Open("sqlite3", "file:"+file) },
		Unwrap: otelsql.Unwrap, Options: []texttosql.Option{texttosql.WithDialect(nil, otelsql.Unwrap)},
	}.Run(t)
}
