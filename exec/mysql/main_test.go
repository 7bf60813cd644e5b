package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
)

var server = servers.Lazy{Start: servers.MariaDB}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// open returns a pool on a new database that script filled, as root. parameters are those of the DSN: "parseTime=true".
func open(t testing.TB, script, parameters string) (pool *sql.DB, dsn string) {
	t.Helper()
	s := server.Get(t)
	databases++
	name := fmt.Sprintf("d%d", databases)
	root := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", s.Port)))(t)
	defer root.Close()
	testutil.Value(root.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4; USE " + name + "; " + script))(t)
	dsn = fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s?%s", s.Port, name, parameters)
	pool = testutil.Value(sql.Open("mysql", dsn))(t)
	t.Cleanup(func() { pool.Close() })
	return pool, dsn
}

var databases int

// held puts the guard on a connection of pool, until the end of the test.
func held(t testing.TB, pool *sql.DB) exec.Conn {
	t.Helper()
	open := testutil.Value(mysql.Dialect{}.Guard(exec.GuardConfig{}))(t)
	o := testutil.Value(open(t.Context(), one(t, pool), 10*time.Second))(t)
	t.Cleanup(func() { o.Close(false) })
	return o.Conn
}

func TestOpen(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)", "multiStatements=true")
	var a int
	if err := pool.QueryRow("SELECT a FROM t").Scan(&a); err != nil || a != 7 {
		t.Errorf("%d, %v", a, err)
	}
}

// engine is MariaDB for the suite, by parameters of the DSN and a user: "root", "boss", who owns everything, or
// "reader", who may only select.
func engine(parameters, user string) exectest.Engine {
	return exectest.Engine{
		Dialect:      mysql.Dialect{},
		State:        stateOf,
		Endless:      dbtest.Endless,
		Lock:         "LOCK TABLES t WRITE",
		VersionDelay: 1100 * time.Millisecond, // the server knows when a table was made to the second
		Open: func(t testing.TB, script string) exectest.Database {
			owner, dsn := open(t, script, "multiStatements=true")
			_, name, _ := strings.Cut(strings.TrimSuffix(dsn, "?multiStatements=true"), "/")
			for _, grant := range []string{
				"CREATE USER IF NOT EXISTS reader@'127.0.0.1', boss@'127.0.0.1'", "GRANT SELECT, SHOW VIEW ON " + name +
					".* TO reader@'127.0.0.1'",
				"GRANT ALL ON *.* TO boss@'127.0.0.1' WITH GRANT OPTION",
			} {
				testutil.Value(owner.Exec(grant))(t)
			}
			as := strings.Replace(dsn, "root@", user+"@", 1)
			if parameters != "" {
				as = strings.Replace(as, "multiStatements=true", parameters, 1)
			}
			return exectest.Database{
				User: exectest.ConnectorOf(t, "mysql", as), Owner: exectest.ConnectorOf(t, "mysql", dsn),
				Contents: func(ctx context.Context) (string, error) { return contents(ctx, owner) },
			}
		},
	}
}

// stateOf is what a connection keeps: settings, variables of its own, its database, its transaction.
func stateOf(ctx context.Context, conn *sql.Conn) (string, error) {
	return dbtest.Lines(ctx, conn,
		"SELECT CONCAT(VARIABLE_NAME, ' = ', IFNULL(VARIABLE_VALUE, 'NULL')) FROM information_schema.SESSION_VARIABLES"+
			" WHERE VARIABLE_NAME NOT IN ('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'LAST_INSERT_ID', 'INSERT_ID', 'IDENTITY', "+
			"'PSEUDO_THREAD_ID',"+
			" 'WARNING_COUNT', 'ERROR_COUNT') ORDER BY 1",
		"SELECT @@in_transaction, DATABASE(), CURRENT_USER()",
		"SELECT GROUP_CONCAT(VARIABLE_NAME) FROM information_schema.USER_VARIABLES",
	)
}

// locks are the names that the statements take locks of.
var locks = []string{"x", "v", "fromfunc", "l", "a", "t1"}

// contents is what a statement must not change: rows, relations, routines, sequences, users, databases, locks, settings
// of the server, files.
func contents(ctx context.Context, owner *sql.DB) (out string, err error) {
	tables, err := dbtest.Texts(ctx, owner,
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' "+
			"ORDER BY 1")
	if err != nil {
		return "", err
	}
	whats := []string{
		"SELECT 'relation', TABLE_NAME, TABLE_TYPE, CREATE_TIME, TABLE_COMMENT FROM information_schema.TABLES " +
			"WHERE TABLE_SCHEMA = DATABASE() ORDER BY 2",
		"SELECT 'routine', ROUTINE_NAME, ROUTINE_TYPE, LAST_ALTERED FROM information_schema.ROUTINES " +
			"WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY 2, 3",
		"SELECT 'user', USER, HOST FROM mysql.user ORDER BY 2, 3",
		"SELECT 'databases', COUNT(*) FROM information_schema.SCHEMATA",
		"SELECT 'global', VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES " +
			"WHERE VARIABLE_NAME NOT LIKE '%gtid%'" +
			" AND VARIABLE_NAME NOT LIKE 'innodb_buffer_pool%' ORDER BY 2",
	}
	for _, name := range tables {
		if name == "big" {
			whats = append(whats, "SELECT COUNT(*) FROM big")
		} else {
			whats = append(whats, "CHECKSUM TABLE `"+name+"`")
		}
	}
	for _, name := range locks {
		whats = append(whats, "SELECT IF(IS_USED_LOCK('"+name+"') IS NULL, '', 'lock "+name+"')")
	}
	if slices.Contains(tables, "log_") { // the large fixture has a sequence
		whats = append(whats, "SELECT 'sequence', next_not_cached_value FROM s")
	}
	if out, err = dbtest.Lines(ctx, owner, whats...); err != nil {
		return "", err
	}
	files, err := os.ReadDir("/tmp")
	for _, f := range files {
		// as the payloads name theirs
		if name := f.Name(); name == "x" || strings.HasPrefix(name, "x.") || strings.HasPrefix(name, "x_") {
			out += "file " + f.Name() + "\n"
		}
	}
	return out, err
}

// connections are the ways in that are tested: users, and parameters that other programs set.
var connections = []struct{ name, parameters, user string }{
	{"root", "", "root"},
	{"reader", "", "reader"},
	{"owner with multiStatements", "multiStatements=true&interpolateParams=true&parseTime=true", "boss"},
	{"reader with parseTime", "parseTime=true", "reader"},
}

// TestConformance runs the suite as root and as a reader, and in all ways in where TEXTTOSQL_EVERY_WAY is set.
func TestConformance(t *testing.T) {
	for i, c := range connections {
		if i > 0 && race.Enabled || i > 1 && os.Getenv("TEXTTOSQL_EVERY_WAY") == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			exectest.Conformance(t, engine(c.parameters, c.user))
		})
	}
}

// TestPayloads runs every statement of the data set on its large fixture, with each user. Other versions of the server:
// TEXTTOSQL_SERVERS=1 TEXTTOSQL_MARIADB=FOLDER go test ./exec/mysql -run TestPayloads -v
func TestPayloads(t *testing.T) {
	all := attack.Payloads(t, "mysql")
	for i, c := range connections {
		if i > 0 && race.Enabled {
			break // the others differ on the server alone
		}
		t.Run(c.name, func(t *testing.T) {
			for traps, list := range map[string][]exectest.Payload{"": all, traps: hostile()} {
				e := engine(c.parameters, c.user)
				e.Fixture = fixture + ";\n" + traps
				for _, p := range list {
					// They take a second each: as one user, those of the data set as a second one.
					if p.Expect != "survive" || !race.Enabled && (i == 0 || i == 1 && traps == "") {
						e.Payloads = append(e.Payloads, p)
					}
				}
				e.CheckPayloads(t)
			}
		})
	}
}

func BenchmarkEngine(b *testing.B) { dialecttest.Benchmark(b, engine("", "root")) }

func BenchmarkVersion(b *testing.B) {
	attack.BenchmarkVersion(b, " ENGINE=MyISAM", func(b *testing.B) *sql.DB {
		pool, _ := open(b, "", "multiStatements=true")
		return pool
	}, func(b *testing.B, pool *sql.DB) exec.Conn { return held(b, pool) })
}

func ExampleDialect() {
	// for texttosql.WithDialect, or exec.New with a pool of github.com/go-sql-driver/mysql
	d := mysql.Dialect{MariaDB: true}
	l := d.Language()
	fmt.Println(l.Name, l.Title, l.Quote("order items"))
	// Output: mysql MariaDB `order items`
}
