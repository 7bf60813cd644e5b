package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// unlisted are the functions of the server that are not on the list, by why.
var unlisted = []struct{ why, names string }{
	{"it tells of the server, its files, sessions, transactions or statistics, or changes them",
		`pg_.*|inet_(client|server)_.*|txid_.*|version|current_(query|setting|schemas?|database)|set_config|` +
			`binary_upgrade_.*|currtid2?|mxid_age|getdatabaseencoding|getpgusername|row_security_active|setseed|system|bernoulli`},
	{"it tells of rights", `has_.*_privilege|acl.*|makeaclitem|current_user|session_user|user`},
	{"it reads or writes what is named by a text",
		`lo_.*|currval|lastval|nextval|setval|.*_to_xml(schema|_and_xmlschema)?|ts_(stat|rewrite|debug|parse|token_type)|to_reg.*|` +
			`(col|obj|shobj)_description|format_type|regclass|brin_.*|gin_clean_pending_list`},
	{"it makes a value that is much larger than what it is given", `array_fill|factorial|loread|lowrite`},
	{"it makes or reads XML, whose errors tell values", `xml.*|xpath.*`},
	{"it needs the type of a row", `jsonb?_populate_record(set)?`},
	{"an operator, a cast or a comparison is written for it",
		`.*(larger|smaller)|textlen|like|notlike|d(exp|log1|log10|round|trunc)|.*_subdiff|.*_canonical|.*_(accum|combine|statefunc)|` +
			`jsonb_(concat|delete|contains|contained|delete_path|path_(exists|match)_opr)|similar_escape|to_ascii|` +
			`range_.*|multirange_.*|.*(hash|cmp)(_?extended)?|satisfies_hash_partition|` +
			`amvalidate|.*_validator|numeric_.*|int4inc|int8_sum|nameconcatoid|oidvectortypes|interval_.*|convert|.*_recv|.*_send|generate_.*`},
}

// TestFunctions: each function of the server's catalog is on the list, or there is a reason why not. What the parts of
// the engine call, as operators, casts, types, indexes and aggregates do, nobody writes.
func TestFunctions(t *testing.T) {
	pool, _ := open(t, "SELECT 1")
	names, err := dbtest.Texts(t.Context(), pool,
		`SELECT DISTINCT p.proname FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind <> 'p'
		AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a WHERE a IN (2281, 2275)) AND p.prorettype NOT IN (2281, 2279, 3838, 2275, 2280, 3115, 325, 3310)
		AND p.oid NOT IN (SELECT oprcode FROM pg_operator) AND p.oid NOT IN (SELECT amproc FROM pg_amproc) AND p.oid NOT IN (SELECT castfunc FROM pg_cast)
		AND p.oid NOT IN (SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout]) FROM pg_type)
		AND p.oid NOT IN (SELECT unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggmtransfn, aggminvtransfn, aggmfinalfn]) FROM pg_aggregate) ORDER BY 1`)
	if err != nil || len(names) < 500 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		why := ""
		for _, of := range unlisted {
			if regexp.MustCompile("^(?:" + of.names + ")$").MatchString(name) {
				why = of.why
			}
		}
		if !postgres.Listed(name) && why == "" {
			t.Errorf("%s is not on the list, and nothing says why", name)
		}
	}
}

// TestExtensions: functions of extensions that only compute are called, those that read or take as long as they are
// asked to are not.
func TestExtensions(t *testing.T) {
	pool, _ := open(t,
		`CREATE EXTENSION unaccent; CREATE EXTENSION fuzzystrmatch; CREATE EXTENSION pg_trgm; CREATE EXTENSION hstore; CREATE EXTENSION citext;
CREATE EXTENSION cube; CREATE EXTENSION earthdistance; CREATE EXTENSION intarray; CREATE EXTENSION ltree;
CREATE EXTENSION "uuid-ossp"; CREATE EXTENSION pgcrypto;
CREATE EXTENSION tablefunc; CREATE VIEW tokens AS SELECT gen_random_uuid() AS id, 'a' AS name;`)
	db := newDB(t, pool, exec.Config{})
	dialecttest.Gives(t, db, [][3]string{
		{"accents", "SELECT unaccent('Hôtel')", "[[Hotel]]"},
		{"distance of words", "SELECT levenshtein('Ann', 'Ana'), soundex('Robert'), dmetaphone('Schmidt'), " +
			"difference('Ann', 'Anna')", "[[1 R163 XMT 4]]"},
		{"trigrams", "SELECT similarity('anna', 'anna'), show_trgm('a')", "[[1 "},
		{"hstore", "SELECT akeys('a=>1'::hstore), exist('a=>1'::hstore, 'a'), hstore_to_json('a=>1'::hstore)", "[[{a} "},
		{"citext", "SELECT 'A'::citext = 'a'", "[["},
		{"cube", "SELECT cube_distance(cube(ARRAY[1, 2]), cube(ARRAY[4, 6]))", "[[5]]"},
		{"distances on earth", "SELECT round(earth_distance(ll_to_earth(0, 0), ll_to_earth(0, 1))::numeric)", "[[111"},
		{"arrays of numbers", "SELECT icount(ARRAY[1, 2]), sort_desc(ARRAY[1, 2]), idx(ARRAY[1, 2], 2)", "[[2 {2,1} 2]]"},
		{"paths", "SELECT nlevel('a.b.c'::ltree), subpath('a.b.c'::ltree, 1)", "[[3 b.c]]"},
		{"uuids", "SELECT length(uuid_generate_v4()::text), length(gen_random_uuid()::text)", "[[36 36]]"},
		{"digests", "SELECT encode(digest('a', 'md5'), 'hex')", "[[0cc175b9c0f1b6a831c399e269772661]]"},
		{"a view of the owner", "SELECT name FROM tokens", "[[a]]"},
		{"what tells of the server", "SELECT version()", "refused"},
		{"where it is", "SELECT inet_server_addr()", "refused"},
		{"slow as it is asked to be", "SELECT crypt('a', 'b')", "refused"},
		{"a text that is run", "SELECT * FROM crosstab('SELECT 1, 2, 3') AS t(a int, b int)", "refused"},
		{"a text that is run", "SELECT ts_rewrite('a'::tsquery, 'SELECT a, b FROM t')", "refused"},
		{"a file", "SELECT pg_read_file('x')", "refused"},
	})
}

// harmless are the volatile functions that may be called under rules about rows, and why their values tell nothing.
var harmless = map[string]string{
	"random": "chance", "random_normal": "chance", "gen_random_uuid": "chance", "uuid_generate_v4": "chance",
	"array_shuffle": "chance", "array_sample": "chance",
	"uuidv4": "chance",
}

// TestVolatile: under rules about rows no function is called whose value moves while a statement runs, unless it tells
// nothing: a clock would tell how long hidden rows took.
func TestVolatile(t *testing.T) {
	pool, _ := open(t, `CREATE EXTENSION "uuid-ossp"; CREATE TABLE parcels(id INTEGER, team TEXT);
CREATE TABLE sizes(id INTEGER, at TIMESTAMPTZ); CREATE VIEW server_time AS SELECT clock_timestamp() AS t;
CREATE VIEW ages AS SELECT id, statement_timestamp() - at AS age FROM sizes;
CREATE VIEW over AS SELECT t FROM server_time; CREATE VIEW today AS SELECT now() AS t, random() AS r;
CREATE VIEW late AS SELECT id, clock_timestamp() AS t FROM parcels`)
	names, err := dbtest.Texts(t.Context(), pool,
		"SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{Rows: map[string]string{"parcels": "team = :team"},
		Shared: []string{"sizes"}}})
	view, err := db.For(&exec.Scope{Key: "red", Params: map[string]any{"team": "red"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range names {
		if !postgres.Listed(name) || harmless[name] != "" {
			continue
		}
		tried++
		if _, err := view.Query(t.Context(), "SELECT "+name+"() FROM parcels"); err == nil ||
			!strings.Contains(err.Error(), "how long hidden rows took") {
			t.Errorf("%s is called: %v", name, err)
		}
	}
	for _, text := range []string{"SELECT clock_timestamp()",
		"SELECT pg_catalog.statement_timestamp() - now() FROM parcels", "SELECT (SELECT timeofday()) FROM parcels",
		"SELECT (SELECT v.t FROM server_time v WHERE q.n IS NOT NULL) - now() FROM (SELECT count(*) AS n FROM parcels) q",
		"SELECT t FROM over", "SELECT age FROM ages", "SELECT t FROM late"} {
		if _, err := view.Query(t.Context(), text); err == nil {
			t.Errorf("%s is answered", text)
		}
	}
	if _, err := view.Query(t.Context(), "SELECT now(), current_timestamp, random() FROM parcels"); err != nil ||
		tried == 0 {
		t.Errorf("%d tried, %v", tried, err)
	}
	dialecttest.Gives(t, view, [][3]string{
		{"a view whose time stands", "SELECT t - now() AS d FROM today", "[[00:00:00]]"}})
	dialecttest.Gives(t, newDB(t, pool, exec.Config{}), [][3]string{
		{"nothing is hidden", "SELECT t > '2020-01-01' FROM server_time", "[[true]]"}})
}
