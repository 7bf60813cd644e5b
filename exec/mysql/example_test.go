package mysql_test

import (
	"fmt"

	"github.com/texttosql/texttosql/exec/mysql"
)

func ExampleDialect() {
	d := mysql.Dialect{MariaDB: true} // for texttosql.WithDialect, or exec.New with a pool of github.com/go-sql-driver/mysql
	fmt.Println(d.Name(), d.Title(), d.Quote("order items"))
	// Output: mysql MariaDB `order items`
}
