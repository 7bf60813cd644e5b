package ncruces_test

import (
	"database/sql"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/drivers/drivertest"
	"github.com/texttosql/texttosql/examples/drivers/ncruces"
)

func Test(t *testing.T) {
	drivertest.Driver{
		Open:    func(file string) (*sql.DB, error) { return driver.Open("file:" + file) },
		Dialect: ncruces.Dialect(), Options: []texttosql.Option{texttosql.WithDialect(ncruces.Dialect())},
	}.Run(t)
}
