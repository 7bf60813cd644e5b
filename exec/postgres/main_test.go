package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/sqltext"
)

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// open returns a pool on a new database that script filled, as the superuser.
func open(t testing.TB, script string) (pool *sql.DB, dsn string) {
	t.Helper()
	s := server.Get(t)
	root := testutil.Value(sql.Open("pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable",
		s.Port)))(t)
	defer root.Close()
	databases++
	name := fmt.Sprintf("d%d", databases)
	testutil.Value(root.Exec("CREATE DATABASE " + name))(t)
	dsn = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.Port, name)
	pool = testutil.Value(sql.Open("pgx", dsn))(t)
	t.Cleanup(func() { pool.Close() })
	if script != "" {
		testutil.Value(pool.Exec(script))(t)
	}
	return pool, dsn
}

var databases int

func newDB(t testing.TB, pool *sql.DB, c exec.Config) *exec.DB {
	t.Helper()
	c.Unwrap, c.Policy = unwrap, revealed(c.Policy)
	return dbtest.NewDB(t, pool, postgres.Dialect{}, c)
}

// revealed is p, which reads the columns password and secret of the tests as any other, unless it says what to reveal.
func revealed(p exec.Policy) exec.Policy {
	if p.Reveal == nil {
		p.Reveal = []string{"*"}
	}
	return p
}

// engine is PostgreSQL for the suite, by parameters of its DSN, and a user: "postgres" or "reader", who may only
// select.
func engine(parameters, user string) exectest.Engine {
	return exectest.Engine{
		Dialect:      postgres.Dialect{},
		State:        stateOf,
		Endless:      dbtest.Endless,
		Lock:         "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE",
		VersionDelay: 1050 * time.Millisecond,             // exec asks once a second
		Flush:        "SELECT pg_stat_force_next_flush()", // else a backend writes its statistics within ten seconds
		Open: func(t testing.TB, script string) exectest.Database {
			owner, dsn := open(t, script)
			for _, grant := range []string{
				"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader') THEN CREATE ROLE reader LOGIN; " +
					"END IF; END $$",
				"GRANT USAGE ON SCHEMA public TO reader", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
				"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader",
				"SELECT pg_stat_force_next_flush()",
			} {
				testutil.Value(owner.Exec(grant))(t)
			}
			u := testutil.Value(url.Parse(dsn))(t)
			u.User = url.User(user)
			if parameters != "" {
				u.RawQuery += "&" + parameters
			}
			return exectest.Database{
				User: exectest.ConnectorOf(t, "pgx", u.String()), Owner: exectest.ConnectorOf(t, "pgx", dsn),
				Contents: func(ctx context.Context) (string, error) { return contents(ctx, owner) },
			}
		},
	}
}

// stateOf is what a connection keeps: settings, prepared statements, cursors, locks, its user and its temporary tables.
func stateOf(ctx context.Context, conn *sql.Conn) (state string, err error) {
	err = conn.QueryRowContext(ctx, `SELECT /* stateOf */ concat_ws(E'\n',
		(SELECT string_agg(name || ' = ' || setting, E'\n' ORDER BY name) FROM pg_settings),
		(SELECT string_agg('prepared ' || statement, E'\n' ORDER BY statement) FROM pg_prepared_statements WHERE statement NOT LIKE '%stateOf%'),
		(SELECT string_agg('cursor ' || statement, E'\n') FROM pg_cursors WHERE statement NOT LIKE '%stateOf%'),
		(SELECT string_agg('lock ' || objid, E'\n') FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'),
		'user ' || current_user || ' ' || session_user, 'temporary ' || pg_my_temp_schema(),
		'channels ' || (SELECT count(*) FROM pg_listening_channels()))`).Scan(&state)
	return state, err
}

// contents is what a statement must not change: rows, relations, functions, sequences, large objects, locks, roles,
// databases, settings, files. A table of many rows is only counted.
func contents(ctx context.Context, owner *sql.DB) (out string, err error) {
	names, err := dbtest.Texts(ctx, owner, "SELECT relname FROM pg_class WHERE relkind = 'r' "+
		"AND relnamespace = 'public'::regnamespace ORDER BY relname")
	if err != nil {
		return "", err
	}
	whats := []string{
		"SELECT 'relation ' || oid || relname || relkind::text || relhasrules || relhastriggers FROM pg_class " +
			"WHERE oid > 16383 AND relpersistence <> 't'",
		"SELECT 'function ' || oid || proname FROM pg_proc WHERE oid > 16383",
		"SELECT 'type ' || oid || typname FROM pg_type WHERE oid > 16383 AND typname !~ '^_?pg_'",
		"SELECT 'sequence ' || sequencename || COALESCE(last_value::text, '-') FROM pg_sequences",
		"SELECT 'object ' || oid FROM pg_largeobject_metadata",
		"SELECT 'lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database " +
			"WHERE datname = current_database())",
		"SELECT 'role ' || rolname || rolsuper || COALESCE(rolconfig::text, '') FROM pg_roles",
		"SELECT 'database ' || count(*) FROM pg_database",
		"SELECT 'slot ' || slot_name FROM pg_replication_slots", "SELECT 'prepared ' || gid FROM pg_prepared_xacts",
		"SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname !~ '^pg_'",
		"SELECT 'extension ' || extname FROM pg_extension", "SELECT md5(pg_read_file('postgresql.auto.conf'))",
		"SELECT 'file ' || f FROM pg_ls_dir('.') AS f",
		"SELECT 'file ' || f FROM pg_ls_dir('/tmp') AS f WHERE f ~ '^(evil|x([._].*)?$)'",
	}
	for i, what := range whats {
		whats[i] = what + " ORDER BY 1"
	}
	for _, name := range names {
		whats = append(whats, fmt.Sprintf("SELECT '%[1]s ' || md5(string_agg(x::text, ',' ORDER BY x::text)) || count(*) "+
			"FROM (SELECT * FROM %[1]q LIMIT 1000) AS x"+
			" UNION ALL SELECT count(*)::text FROM %[1]q", name))
	}
	return dbtest.Lines(ctx, owner, whats...)
}

// connections are the ways in that are tested: pgx's five modes, and users.
var connections = []struct{ name, parameters, user string }{
	{"pgx as superuser", "", "postgres"},
	{"pgx as reader", "", "reader"},
	{"pgx cache_describe", "default_query_exec_mode=cache_describe", "postgres"},
	{"pgx describe_exec", "default_query_exec_mode=describe_exec", "reader"},
	{"pgx exec", "default_query_exec_mode=exec", "postgres"},
	{"pgx simple_protocol", "default_query_exec_mode=simple_protocol", "postgres"},
}

// TestConformance runs the suite as superuser and as reader, and in all ways in where TEXTTOSQL_EVERY_WAY is set, which
// takes two minutes more.
func TestConformance(t *testing.T) {
	for i, c := range connections {
		if i == 0 || i == 1 && !race.Enabled || os.Getenv("TEXTTOSQL_EVERY_WAY") != "" {
			t.Run(c.name, func(t *testing.T) { exectest.Conformance(t, engine(c.parameters, c.user)) })
		}
	}
}

// TestPayloads runs every statement of the data set on its large fixture, in each mode and as each user. Other versions
// of the server: TEXTTOSQL_SERVERS=1 TEXTTOSQL_POSTGRES=FOLDER go test ./exec/postgres -run TestPayloads -v
func TestPayloads(t *testing.T) {
	script := testutil.Value(os.ReadFile(evaldata.Path(t, "security", "fixture_postgres.sql")))(t)
	all := attack.Payloads(t, "postgres")
	for i, c := range connections {
		if i > 0 && race.Enabled {
			break // the others differ on the server alone
		}
		t.Run(c.name, func(t *testing.T) {
			for traps, list := range map[string][]exectest.Payload{"": all, traps: hostile(),
				operatorTraps: hostileOperators()} {
				if traps != "" && c.parameters != "" {
					continue // the modes of pgx do the same before anything runs
				}
				e := engine(c.parameters, c.user)
				e.Fixture = withoutRoles(string(script)) + traps
				for _, p := range list {
					// They take a second each: as superuser, and those of the data set as reader too.
					some := i == 0 || i == 1 && traps == "" || os.Getenv("TEXTTOSQL_EVERY_WAY") != ""
					if p.Expect != "survive" || !race.Enabled && some {
						e.Payloads = append(e.Payloads, p)
					}
				}
				e.CheckPayloads(t)
			}
		})
	}
}

// TestPayloadsTree runs the hostile statements against the tree alone, which refuses them all, and the harmless ones.
func TestPayloadsTree(t *testing.T) {
	fixture := testutil.Value(os.ReadFile(evaldata.Path(t, "security", "fixture_postgres.sql")))(t)
	pool, _ := open(t, withoutRoles(string(fixture)))
	checks := map[string]func(string) error{}
	refused, accepted := 0, 0
	for _, p := range attack.Payloads(t, "postgres") {
		key := fmt.Sprint(p.Policy)
		if checks[key] == nil {
			c := readCatalog(t, pool, p.Policy)
			checks[key] = func(s string) error { _, err := c.Check(s); return err }
		}
		if _, err := sqltext.PostgreSQL().Check(p.SQL); err != nil && p.Expect == "survive" {
			continue // the tree never sees it: brackets without end
		}
		err := checks[key](p.SQL)
		switch {
		case p.Expect == "refuse" && err == nil, p.Expect == "accept" && err != nil:
			t.Errorf("%s, %v: %.200s\n%s: %v", p.Name, p.Expect, p.SQL, p.Why, err)
		case p.Expect == "refuse":
			refused++
		case p.Expect == "accept":
			accepted++
		}
	}
	if t.Logf("refused %d, accepted %d", refused, accepted); refused < 166 || accepted < 36 {
		t.Errorf("only %d and %d", refused, accepted)
	}
}

// withoutRoles leaves out what belongs to a server, not to a database.
func withoutRoles(script string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(script, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "CREATE ROLE") || strings.HasPrefix(line, "GRANT")
	})
	return strings.Join(lines, "")
}

func BenchmarkEngine(b *testing.B) { dialecttest.Benchmark(b, engine("", "postgres")) }

func BenchmarkVersion(b *testing.B) {
	attack.BenchmarkVersion(b, "", func(b *testing.B) *sql.DB {
		pool, _ := open(b, "")
		return pool
	}, func(b *testing.B, pool *sql.DB) exec.Conn {
		open, conn := testutil.Value(postgres.Dialect{}.Guard(exec.GuardConfig{}))(b),
			testutil.Value(pool.Conn(b.Context()))(b)
		held := testutil.Value(open(b.Context(), conn, time.Minute))(b)
		b.Cleanup(func() { held.Close(false); conn.Close() })
		return held.Conn
	})
}
