package selectstar

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/schema"
)

// TestWithout: a star becomes the columns that may be read; what is not plain stays refused.
func TestWithout(t *testing.T) {
	users, orders := []schema.Column{{Name: "id"}, {Name: "name"}},
		schema.Table{Name: "orders", Columns: []schema.Column{{Name: "id"}, {Name: "order"}}}
	s := Schemas{
		&schema.Schema{Tables: []schema.Table{{Name: "users", Columns: users}, orders}},
		&schema.Schema{Tables: []schema.Table{{Name: "users",
			Columns: append(slices.Clip(users), schema.Column{Name: "password_hash"})}, orders}},
	}
	for _, tt := range []struct{ why, sql, want string }{
		{"a star", "SELECT * FROM users WHERE id = 1", `SELECT "id", "name" FROM users WHERE id = 1`},
		{"the star of an alias", "select u.*, o.id from users AS u join orders o on o.id = u.id",
			`select "u"."id", "u"."name", o.id from users AS u join orders o on o.id = u.id`},
		{"both", "SELECT * FROM users, orders",
			`SELECT "users"."id", "users"."name", "orders"."id", "orders"."order" FROM users, orders`},
		{"a product is no star", "SELECT *, 2 * 3 FROM users ORDER BY 1, 2",
			`SELECT "id", "name", 2 * 3 FROM users ORDER BY 1, 2`},
		{"a count is no star", "SELECT count(*) FROM users", ""},
		{"merged columns", "SELECT * FROM users JOIN orders USING (id)", ""},
		{"a query inside", "SELECT * FROM (SELECT * FROM users)", ""},
		{"two queries", "SELECT * FROM users UNION SELECT 1, 2, 3", ""},
		{"another table", "SELECT * FROM secrets", ""},
		{"nothing", "", ""},
	} {
		got, left, ok := Without(sqlite.Dialect{}.Language(), s, tt.sql)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
		if ok && !slices.Equal(left, []string{"users.password_hash"}) {
			t.Errorf("%s: left %v", tt.why, left)
		}
	}
}

// FuzzWithout: no statement breaks it.
func FuzzWithout(f *testing.F) {
	s := Schemas{Readable: &schema.Schema{Tables: []schema.Table{{Name: "u", Columns: []schema.Column{{Name: "id"}}}}}}
	f.Add("SELECT a.* FROM main.u AS a")
	f.Fuzz(func(_ *testing.T, sql string) { Without(sqlite.Dialect{}.Language(), s, sql) })
}
