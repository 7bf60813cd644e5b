package mysql_test

import (
	"fmt"

	"github.com/texttosql/texttosql/exec/mysql"
)

func ExampleDialect() {
	d := mysql.Dialect{MariaDB: true} // for texttosql.WithDialect, or exec.New with a pool of github.com/go-sql-driver/mysql
	l := d.Language()
	fmt.Println(l.Name, l.Title, l.Quote("order items"))
	// Output: mysql MariaDB `order items`
}
