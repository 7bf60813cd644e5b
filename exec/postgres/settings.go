package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// factsText reads what the guard has to know of a connection, in the order of the fields of facts, but for the version.
// It is read before the settings are changed, under the caller's search path.
var factsText = func() string {
	text := "SELECT "
	for _, name := range []string{
		"standard_conforming_strings", "client_encoding", "server_version_num", "is_superuser", "statement_timeout", "lock_timeout", "temp_file_limit",
	} {
		text += "pg_catalog.current_setting('" + name + "'), "
	}
	return text + "pg_catalog.current_schemas(false), current_user, pg_catalog.current_database(), "
}()

// facts are what factsText reads.
type facts struct {
	strings, encoding, number, superuser, statement, lock, temporary string

	path                    string // the schemas of the search path that exist, as an array
	user, database, version string
}

func factsOf(rows [][]string) (f facts, err error) {
	if len(rows) == 0 || len(rows[0]) < 11 {
		return f, fmt.Errorf("postgres: the server answered the first question with %d rows", len(rows))
	}
	r := rows[0]
	return facts{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10]}, nil
}

// unguarded says why a connection cannot be guarded.
func (f facts) unguarded() error {
	switch {
	case f.strings != "on":
		return &exec.UnguardedError{Reason: "standard_conforming_strings is off, so a backslash in a string ends it elsewhere than the text check sees",
			Remedy: "set it to on, as it is by default, in the data source name or with ALTER ROLE"}
	case f.encoding != "UTF8":
		return &exec.UnguardedError{Reason: "client_encoding is " + f.encoding + ", so the server reads other characters than the text check",
			Remedy: "set it to UTF8 in the data source name"}
	case f.major() < oldest:
		return &exec.UnguardedError{Reason: "the server says that it is version " + f.number, Remedy: fmt.Sprintf("use PostgreSQL %d or newer", oldest)}
	}
	return nil
}

// oldest is the oldest version whose settings and functions the guard can rely on.
const oldest = 12

func (f facts) major() int {
	n, _ := strconv.Atoi(f.number)
	return n / 10_000
}

// schemas is the search path of the caller.
func (f facts) schemas() (path []string) {
	for _, m := range element.FindAllStringSubmatch(strings.Trim(f.path, "{}"), -1) {
		path = append(path, m[1]+unescaped.Replace(m[2]))
	}
	return path
}

// element is one text of an array as the server writes it: plain, or in quotes.
var (
	element   = regexp.MustCompile(`([^",]+)|"((?:[^"\\]|\\.)*)"`)
	unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
)

// same reports whether the settings for f and for g are the same.
func (f facts) same(g facts) bool {
	f.user, f.database, f.version = g.user, g.database, g.version
	return f == g
}

// settings is what the guard sets until the end of the transaction. No limit of the caller is set higher. idle is how
// long nothing may come from us, 0: for ever.
func (f facts) settings(timeout, idle time.Duration, lowly bool) [][2]string {
	path := "pg_catalog"
	for _, s := range f.schemas() {
		path += ", " + Dialect{}.Quote(s)
	}
	list := [][2]string{
		{"search_path", path + ", pg_temp"}, // built-in functions first, temporary tables last: nothing hides another
		{"idle_in_transaction_session_timeout", strconv.FormatInt(idle.Milliseconds(), 10)},
		{"max_parallel_workers_per_gather", "0"}, {"work_mem", "8MB"}, {"jit", "off"},
		{"cursor_tuple_fraction", "1"},  // or the cursor is planned for its first rows
		{"synchronize_seqscans", "off"}, // the same order of rows twice
		{"transform_null_equals", "off"},
		{"DateStyle", "ISO, YMD"}, {"IntervalStyle", "postgres"}, {"bytea_output", "hex"}, {"extra_float_digits", "1"},
	}
	// A lock is waited for a little less long, so that its error is that of a lock.
	if d := duration(f.statement); d == 0 || d > timeout*9/10 {
		list = append(list, [2]string{"statement_timeout", milliseconds(timeout * 9 / 10)})
	}
	if d := duration(f.lock); d == 0 || d > timeout*8/10 {
		list = append(list, [2]string{"lock_timeout", milliseconds(timeout * 8 / 10)})
	}
	if f.major() >= 17 {
		list = append(list, [2]string{"transaction_timeout", "0"}) // a session may be open for long
	}
	if f.superuser == "on" && f.temporary == "-1" { // nobody else may set it
		list = append(list, [2]string{"temp_file_limit", "256MB"})
	}
	if lowly {
		list = append(list, [2]string{"role", "pg_read_all_data"})
	}
	return list
}

// settings writes what is to be set: as more columns of factsText, or as statements, which the server runs faster, where
// they go in one message. Values are quoted.
func settings(list [][2]string, message bool) (columns string, texts []string) {
	for _, s := range list {
		if message && s[0] != "search_path" { // that is a list of names to SET
			texts = append(texts, "SET LOCAL "+s[0]+" = "+literal(s[1]))
		} else {
			columns += ", pg_catalog.set_config('" + s[0] + "', " + literal(s[1]) + ", true)"
		}
	}
	return columns, texts
}

// duration reads a time as the server writes it: "1500ms", "2s", "1min", "0".
func duration(setting string) time.Duration {
	digits := strings.TrimRight(setting, "usminhd")
	n, _ := strconv.ParseInt(digits, 10, 64)
	unit := map[string]time.Duration{
		"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[setting[len(digits):]]
	return time.Duration(n) * unit
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
