// Package knowledge_test holds the package knowledge of the SDK against recorded models and requests, on SQLite,
// PostgreSQL and MariaDB.
package knowledge_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	mariadb "github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
	"github.com/texttosql/texttosql/result"
)

var (
	postgresServer = servers.Lazy{Start: servers.Postgres}
	mariaServer    = servers.Lazy{Start: servers.MariaDB}
)

func TestMain(m *testing.M) { os.Exit(mariaServer.Run(onPostgresServer{m})) }

// onPostgresServer runs the tests with the other server.
type onPostgresServer struct{ m *testing.M }

func (r onPostgresServer) Run() int { return postgresServer.Run(r.m) }

// databases are the files of the models.
var databases = map[string]func(testing.TB) string{
	"chinook":       func(t testing.TB) string { return evaldata.Path(t, "db", "chinook", "Chinook_Sqlite.sqlite") },
	"classicmodels": func(t testing.TB) string { return evaldata.Path(t, "db", "classicmodels", "classicmodels.sqlite") },
	"jaffle":        func(t testing.TB) string { return evaldata.Knowledge(t, "db", "jaffle.sqlite") },
	"trips":         func(t testing.TB) string { return evaldata.Knowledge(t, "db", "trips.sqlite") },
	"acme":          func(t testing.TB) string { return evaldata.Knowledge(t, "db", "acme.sqlite") },
}

// modelOf reads the model of a database.
func modelOf(t testing.TB, name string) knowledge.Model {
	t.Helper()
	if name == "acme" {
		file := testutil.Value(os.Open(evaldata.Knowledge(t, "dbt", "acme", "semantic_manifest.json")))(t)
		defer file.Close()
		return testutil.Value(dbt.Read(file))(t)
	}
	file := testutil.Value(os.Open(evaldata.Knowledge(t, "models", name+".json")))(t)
	defer file.Close()
	return testutil.Value(knowledge.Read(file))(t)
}

// pool opens the SQLite file of a database.
func pool(t testing.TB, name string) *sql.DB {
	t.Helper()
	path := testutil.Value(filepath.Abs(databases[name](t)))(t)
	p := testutil.Value(sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1"))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

// guarded is a database as an engine asks it.
func guarded(t testing.TB, p *sql.DB, d exec.Dialect) *exec.DB {
	t.Helper()
	return testutil.Value(exec.New(p, d, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}))(t)
}

func onSQLite(t testing.TB, name string) *exec.DB { return guarded(t, pool(t, name), sqlite.Dialect{}) }

var copies atomic.Int64

// copyOf names the next copy of a database.
func copyOf(name string) string { return fmt.Sprint(name, copies.Add(1)) }

// onPostgres is a copy of a database on PostgreSQL.
func onPostgres(t testing.TB, name string) *exec.DB {
	t.Helper()
	return guarded(t, postgresCopy(t, name), postgres.Dialect{})
}

// postgresCopy copies a database to PostgreSQL.
func postgresCopy(t testing.TB, name string) *sql.DB {
	t.Helper()
	s := postgresServer.Get(t)
	root := testutil.Value(sql.Open("pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable",
		s.Port)))(t)
	defer root.Close()
	database := copyOf(name)
	testutil.Value(root.Exec(`CREATE DATABASE "` + database + `"`))(t)
	p := testutil.Value(sql.Open("pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.Port,
		database)))(t)
	t.Cleanup(func() { p.Close() })
	load(t, name, p, `"`, "timestamp", "numeric", func(n int) string { return fmt.Sprintf("$%d", n) })
	return p
}

// onMariaDB is a copy of a database on MariaDB.
func onMariaDB(t testing.TB, name string) *exec.DB {
	t.Helper()
	s := mariaServer.Get(t)
	root := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", s.Port)))(t)
	defer root.Close()
	database := copyOf(name)
	testutil.Value(root.Exec("CREATE DATABASE " + database + " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"))(t)
	config := mysql.NewConfig()
	config.User, config.Net, config.DBName = "root", "tcp", database
	config.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
	p := testutil.Value(sql.Open("mysql", config.FormatDSN()))(t)
	t.Cleanup(func() { p.Close() })
	load(t, name, p, "`", "datetime", "decimal(20,4)", func(int) string { return "?" })
	return guarded(t, p, mariadb.Dialect{MariaDB: true})
}

// load copies the tables of a SQLite file, names as they are.
func load(t testing.TB, name string, to *sql.DB, quote, moment, number string, parameter func(int) string) {
	t.Helper()
	from := pool(t, name)
	quoted := func(s string) string { return quote + s + quote }
	for _, table := range texts(t, from, "SELECT name FROM sqlite_master WHERE type = 'table' "+
		"AND name NOT LIKE 'sqlite_%'") {
		kinds := texts(t, from, "SELECT type FROM pragma_table_info(?)", table)
		var columns, names, places []string
		for i, column := range texts(t, from, "SELECT name FROM pragma_table_info(?)", table) {
			kind, low := "text", strings.ToLower(column)
			switch up := strings.ToUpper(kinds[i]); {
			case name == "jaffle" && strings.HasPrefix(low, "is_"):
				kind = "boolean"
			case strings.Contains(low, "date") || strings.HasSuffix(low, "_at"):
				kind = moment
			case regexp.MustCompile("INT|REAL|NUM|DEC|DOUB").MatchString(up):
				kind = number
			}
			columns, names = append(columns, quoted(column)+" "+kind), append(names, quoted(column))
			places = append(places, parameter(i+1))
		}
		testutil.Value(to.Exec("CREATE TABLE " + quoted(table) + " (" + strings.Join(columns, ", ") + ")"))(t)
		insert := "INSERT INTO " + quoted(table) + " VALUES (" + strings.Join(places, ", ") + ")"
		tx := testutil.Value(to.Begin())(t)
		statement := testutil.Value(tx.Prepare(insert))(t)
		rows := testutil.Value(from.Query("SELECT * FROM \"" + table + "\""))(t)
		for rows.Next() {
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			testutil.OK(t, rows.Scan(into...))
			for i, v := range values {
				if v != nil && strings.HasSuffix(columns[i], " boolean") {
					values[i] = fmt.Sprint(v) == "1" || fmt.Sprint(v) == "true"
				} else if v != nil && !strings.HasSuffix(columns[i], moment) {
					values[i] = fmt.Sprint(text(v))
				}
			}
			testutil.Value(statement.Exec(values...))(t)
		}
		testutil.OK(t, rows.Err())
		rows.Close()
		testutil.OK(t, tx.Commit())
	}
}

func text(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}

func texts(t testing.TB, p *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows := testutil.Value(p.Query(query, args...))(t)
	defer rows.Close()
	for rows.Next() {
		var s string
		testutil.OK(t, rows.Scan(&s))
		all = append(all, s)
	}
	testutil.OK(t, rows.Err())
	return all
}

// number is a numeric value as a float, which a text in a column of numbers is too on some engines.
func number(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case result.Decimal:
		f, _ := strconv.ParseFloat(string(v), 64)
		return f
	}
	return v
}
