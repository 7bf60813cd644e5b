package modernc_test

import (
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/examples/drivers/drivertest"
	"github.com/texttosql/texttosql/exec/sqlite/modernc"
)

func Test(t *testing.T) {
	drivertest.Driver{
		Open: func(file string) (*sql.DB, error) { return sql.OpenDB(modernc.Connector{DSN: "file:" + file}), nil },
	}.Run(t)
}
