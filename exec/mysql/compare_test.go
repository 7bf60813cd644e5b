package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// comparedTypes are the types of columns with which a parameter is compared, and what as.
var comparedTypes = map[string]string{
	"TINYINT": "number", "SMALLINT": "number", "MEDIUMINT": "number", "INT": "number", "BIGINT": "number",
	"BIGINT UNSIGNED": "number", "BOOLEAN": "number",
	"DECIMAL(30,4)": "number", "FLOAT": "number", "DOUBLE": "number", "BIT(60)": "number",
	"CHAR(30)": "text", "VARCHAR(30)": "text", "VARCHAR(30) CHARACTER SET latin1": "text",
	"TINYTEXT": "text", "TEXT": "text", "MEDIUMTEXT": "text", "LONGTEXT": "text", "JSON": "text",
	"ENUM('x','0','1','abc','')": "text", "SET('x','0','1','abc')": "text",
	"BINARY(3)": "text", "VARBINARY(30)": "text", "TINYBLOB": "text", "BLOB": "text",
	"MEDIUMBLOB": "text", "LONGBLOB": "text", "UUID": "text", "INET4": "text", "INET6": "text",
	"DATE": "date", "DATETIME": "date", "TIMESTAMP NULL": "date", "DATETIME(3)": "date",
}

// comparedForms are the rules in which a parameter stands beside a column of its kind.
var comparedForms = []string{
	"c = :x", ":x = c", "t.c = :x", "`c`=:x", "(c) = ((:x))", "c <=> :x", "c <> :x",
	"c >= :x", "c IN (:x, :y)", "c NOT IN (:x)", ":x IN (c)", "c BETWEEN :x AND :y",
	":x BETWEEN c AND c", "NOT c = :x", "c = :x OR id < 0", "c IN (NULL, :x)",
	"id IS NULL OR c = :x", "c = :x AND id IS NOT NULL", "id > 0 XOR NOT c = :x", "c BETWEEN :x AND :y AND id > 0",
}

// indexed are those that are looked up in an index, where the server makes the value one of the column.
var indexed = []string{"c = :x", ":x = c", "c <=> :x", "c >= :x", "c IN (:x, :y)", ":x IN (c)", "c BETWEEN :x AND :y",
	"NOT c = :x", "c LIKE :x"}

var comparedValues = []any{0, 0.0, math.Copysign(0, -1), false, true, "", "abc", nil, int64(9007199254740993),
	"9007199254740993", "12345678901234567890123", 1e30, 1, "1", "0", "00", "1x", " 1",
	"+1", 1.5, "1.50", 1.00004, 2.4, "1.5e-9", "1e0", 1000000.0, "-0", math.Inf(1), math.NaN(), 2020, "2020", 70,
	"2020-01-01", "2020-01-01 12:00:00", "2020-02-31", "12:00:00", "0000-00-00", []byte("abc"), []byte("1"), []byte{}}

// literal writes a value for a column of a kind; "" where the kind has no such value.
func literal(kind string, value any) string {
	text := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	b, isBytes := value.([]byte)
	if isBytes {
		text = string(b)
	}
	isText := isBytes || fmt.Sprintf("%T", value) == "string"
	switch {
	case value == nil:
		return "NULL"
	case value == false && kind == "number":
		return "0"
	case value == true && kind == "number":
		return "1"
	case (kind == "number") && regexp.MustCompile(`^[+-]?\d+(\.\d+)?(e\+\d+)?$`).MatchString(text):
		return text
	case kind == "text" && value != false && value != true, kind == "date" && isText &&
		strings.HasPrefix(text, "2020-01-01"):
		return "'" + text + "'"
	}
	return ""
}

// TestCompared: columns of every type, with an index, and values of every kind. A value that is not of the kind of the
// column gives no row, and any other the rows that its literal gives.
func TestCompared(t *testing.T) {
	if race.Enabled {
		t.Skip("runs without the race detector")
	}
	types := slices.Sorted(func(yield func(string) bool) {
		for name := range comparedTypes {
			if !yield(name) {
				return
			}
		}
	})
	script := "SET sql_mode = '';\n"
	for i, name := range types {
		length := ""
		if strings.HasSuffix(name, "TEXT") || strings.HasSuffix(name, "BLOB") || name == "JSON" {
			length = "(9)"
		}
		script += fmt.Sprintf("CREATE TABLE t%d(id INTEGER, c %s, KEY (c%s));\n", i, strings.Replace(name, "JSON", "LONGTEXT",
			1), length)
		for j, value := range []string{"NULL", "0", "1", "'0'", "''", "'abc'", "'1'", "'1x'", "'00'",
			"' 1'", "'x'", "1.5", "9007199254740993", "9007199254740992", "-1", "2020", "1970", "2000",
			"'2020-01-01'", "'2020-01-01 12:00:00'", "'12:00:00'", "0", "'127.0.0.1'"} {
			script += fmt.Sprintf("INSERT IGNORE INTO t%d VALUES (%d, %s);\n", i, j, value)
		}
	}
	d := engine("", "reader").Open(t, script)
	user, owner := sql.OpenDB(d.User), sql.OpenDB(d.Owner)
	defer user.Close()
	defer owner.Close()
	c := compared{user: user, owner: owner, types: types, accepted: map[string]bool{}}
	t.Run("forms", func(t *testing.T) {
		for _, form := range append(comparedForms, "c LIKE :x", "FIND_IN_SET(:x, c)") {
			t.Run(form, func(t *testing.T) {
				t.Parallel()
				c.form(t, form)
			})
		}
	})
	t.Logf("%d statements are answered, %d refused for their value", c.answered, c.refused)
	for _, want := range []string{"number 1", "number 0", `number "1"`, "number true",
		`text "abc"`, `text ""`, "text 1", `date "2020-01-01"`, "number 1.5", `number "1.50"`} {
		if !c.accepted[want] {
			t.Errorf("%s is not accepted", want)
		}
	}
}

// compared counts what becomes of values.
type compared struct {
	user, owner *sql.DB
	types       []string

	mu                sync.Mutex
	answered, refused int
	accepted          map[string]bool
}

// form compares all values by one form of a rule with columns of all types.
func (c *compared) form(t *testing.T, form string) {
	p := exec.Policy{Rows: map[string]string{}}
	for i, name := range c.types {
		if kind := comparedTypes[name]; !strings.Contains(form, "LIKE") && !strings.Contains(form, "FIND") || kind == "text" {
			p.Rows[fmt.Sprintf("t%d", i)] = strings.Replace(form, "t.c", fmt.Sprintf("t%d.c", i), 1)
		}
	}
	db := testutil.Value(exec.New(c.user, mysql.Dialect{}, exec.Config{Policy: p}))(t)
	testutil.OK(t, db.Ready(t.Context()))
	for _, value := range comparedValues {
		view := testutil.Value(db.For(&exec.Scope{Key: "x", Params: map[string]any{"x": value, "y": value}}, nil))(t)
		for i, name := range c.types {
			table := fmt.Sprintf("t%d", i)
			if p.Rows[table] == "" {
				continue
			}
			hint := ""
			if slices.Contains(indexed, form) {
				hint = " FORCE INDEX (c)"
			}
			got, err := view.Query(t.Context(), "SELECT id FROM "+table+hint+" ORDER BY id")
			c.count(name, value, got, err)
			if err != nil {
				if !errors.Is(err, exec.ErrNoScope) {
					t.Errorf("%s: %s with %#v: %v", name, form, value, err)
				}
				continue
			}
			of := literal(comparedTypes[name], value)
			if of == "" {
				t.Errorf("%s: %s with %#v, which is of another kind, gives %v", name, form, value, got.Rows)
				continue
			}
			rule := strings.ReplaceAll(strings.ReplaceAll(p.Rows[table], ":x", of), ":y", of)
			want := testutil.Value(dbtest.Texts(t.Context(), c.owner, "SELECT id FROM "+table+" IGNORE INDEX (c) WHERE "+rule+
				" ORDER BY id"))(t)
			for _, row := range got.Rows { // there may be fewer: an index has no rows of a text that is no address
				if !slices.Contains(want, fmt.Sprint(row[0])) {
					t.Errorf("%s: %s with %#v gives %v, and its literal %v", name, form, value, got.Rows, want)
					break
				}
			}
		}
	}
}

func (c *compared) count(name string, value any, got *result.Table, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.refused++
		return
	}
	c.answered++
	key := comparedTypes[name] + fmt.Sprintf(" %#v", value)
	c.accepted[key] = c.accepted[key] || len(got.Rows) > 0
}

// TestNotCompared: a parameter that stands anywhere else is no policy, for columns of all types.
func TestNotCompared(t *testing.T) {
	forms := []string{
		":x", "NOT :x", ":x OR c = 1", ":x IS TRUE", ":x IS NULL OR c = 1", "c = :y AND :x", "c XOR :x",
		"c = -:x", "c = !:x", "c + 0 = :x", "c = :x + 0", "c * 1 IN (:x)", "-c = :x", "NOT c = NOT :x",
		"CASE c WHEN :x THEN 1 END", "CASE :x WHEN c THEN 1 END", "c = CASE WHEN 1 THEN :x END",
		"CASE WHEN :x THEN 1 END", "(c = c) = :x", "c = c = :x", ":x = :y", ":x IN (:y)",
		"(c, id) = (:x, id)", "(c, 1) IN ((:x, 1))", "ROW(c, 1) = ROW(:x, 1)", "c COLLATE utf8mb4_bin = :x",
		"c = :x COLLATE utf8mb4_bin", "BINARY c = :x", "c = BINARY :x", "CAST(c AS CHAR) = :x",
		"c = CAST(:x AS CHAR)", "c = CONVERT(:x, SIGNED)", "c = CONVERT(:x USING utf8mb4)",
		"c REGEXP :x", "c RLIKE :x", "c LIKE concat(:x, '%')", "lower(c) LIKE :x", "c SOUNDS LIKE :x",
		"c BETWEEN :x AND lower(:y)", "lower(c) BETWEEN :x AND :y", ":x BETWEEN c AND lower(c)",
		"c IN (1, 'a', :x)", "c IN (lower(c), :x)", "c IN (x'41', :x)", "c DIV :x", "c || :x", "c & :x",
		"FIND_IN_SET(lower(:x), c)", "CASE WHEN c = :x THEN TRUE END", "IF(c = :x, TRUE, FALSE)", "(c = :x) IS TRUE",
		"(c = :x) = (1 = 1)",
		"coalesce(c = :x, c = :y)", "STRCMP(c, :x) = 0", "c = geometry AND geometry = :x",
		"c = :x AND id = :x AND geometry = :y", "c = nope AND nope = :x",
		"c = DATE :x", "c = INTERVAL :x DAY + c", "JSON_VALUE(c, '$.a') = :x", "c->'$.a' = :x",
		"EXTRACT(YEAR FROM c) = :x", "TRIM(:x FROM c) = ''", "POSITION(:x IN c)", "MATCH(c) AGAINST(:x)", "c <=> d <=> :x",
		"c = :x IS NULL", "c = :x IS TRUE", "c = :x IS NOT FALSE", "c = :x IN (1)", "c = :x BETWEEN 1 AND 2",
		"c = :x LIKE 'a'", "c = :x REGEXP 'a'", "c = :x DIV 1", "c = :x | 1", "c = :x ^ 1", "c = :x << 1",
		"c = :x MOD 2", "c = :x <=> 1", "c = :x = 1", "1 = c = :x", "c IN (:x) IS TRUE", "c IN (:x) = 1",
		"c BETWEEN :x AND :y = 1", "c BETWEEN :x AND :y + 1", "c BETWEEN :x AND :y IS NULL",
		"c LIKE :x = 1", "c LIKE :x IS NULL", "!c = :x", "~c = :x", "- c = :x", "+ (c) = -(:x)", "id IS NULL = c = :x",
		"CASE c = :x WHEN 1 THEN 1 END",
	}
	for _, f := range mysql.Functions() {
		if f != "find_in_set" && !strings.Contains(f, "`") {
			forms = append(forms, f+"(c) = :x", "c = "+f+"(:x)", f+"(c, :x) = c", f+"(:x, c) = c",
				"c IN ("+f+"(c, :x, c))", f+"(c = :x) = :x", ":x BETWEEN "+f+"(c) AND c")
		}
	}
	refused := 0
	for _, of := range []string{"int(11)", "varchar(9)", "date", "varbinary(3)", "enum", "geometry", "year(4)", "time",
		"point", "json"} {
		table := &schema.Table{Name: "t", Columns: []schema.Column{{Name: "id", Type: "int(11)"},
			{Name: "c", Type: of}, {Name: "d", Type: of}, {Name: "geometry", Type: "geometry"}}}
		for _, form := range forms {
			var params []string
			text := regexp.MustCompile(`:[xy]`).ReplaceAllStringFunc(form, func(p string) string {
				params = append(params, p[1:])
				return "?"
			})
			if err := mysql.Compared(table, text, params); err == nil {
				t.Errorf("%s: %s is accepted", of, form)
			} else if strings.Contains(err.Error(), "is not compared") {
				refused++
			}
		}
	}
	for _, of := range []string{"geometry", "year(4)", "time(3)", "json", ""} {
		table := &schema.Table{Name: "t", Columns: []schema.Column{{Name: "c", Type: of}}}
		for _, form := range []string{"c = ?", "c IN (?)", "c BETWEEN 1 AND ?", "c LIKE ?", "? = c"} {
			if err := mysql.Compared(table, form, []string{"x"}); err == nil {
				t.Errorf("%s: %s is accepted", of, form)
			}
		}
	}
	t.Logf("%d forms of %d are refused, the others are no rules", refused, 10*len(forms))
}

// TestComparedModes: a rule is read as the server of the connection reads it.
func TestComparedModes(t *testing.T) {
	for _, test := range []struct {
		mode, rule string
		accepted   bool
	}{
		{"", "NOT :x = c", true}, {"HIGH_NOT_PRECEDENCE", "NOT :x = c", false}, {"", "c = :x || c = :y", true},
		{"PIPES_AS_CONCAT", "c = :x || c = :y", false},
		{"ANSI_QUOTES", `"c" = :x`, true}, {"NO_BACKSLASH_ESCAPES", `c = :x AND c <> '\'`, true},
	} {
		d := engine("sql_mode="+"%27"+test.mode+"%27", "reader").Open(t, "CREATE TABLE t(id INTEGER, c VARCHAR(9))")
		user := sql.OpenDB(d.User)
		db := testutil.Value(exec.New(user, mysql.Dialect{ANSIQuotes: test.mode == "ANSI_QUOTES",
			NoBackslashEscapes: test.mode == "NO_BACKSLASH_ESCAPES"},
			exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": test.rule}}}))(t)
		err := db.Ready(t.Context())
		if test.accepted && err != nil || !test.accepted && (!errors.As(err, new(*exec.PolicyError)) ||
			!strings.Contains(err.Error(), "write column = :x")) {
			t.Errorf("%s: %s: %v", test.mode, test.rule, err)
		}
		user.Close()
	}
}
