package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
)

// factsText reads what the guard has to know of a connection, in the order of the fields of facts. It is read before
// the settings are changed, under the caller's search path.
var factsText = func() string {
	text := "SELECT "
	for _, name := range []string{
		"standard_conforming_strings", "client_encoding", "server_version_num", "is_superuser", "temp_file_limit",
		"search_path",
	} {
		text += "pg_catalog.current_setting('" + name + "'), "
	}
	for _, name := range []string{"statement_timeout", "lock_timeout"} {
		text += "1000 OPERATOR(pg_catalog.*) extract(epoch FROM pg_catalog.current_setting('" + name +
			"')::pg_catalog.interval), "
	}
	return text + "pg_catalog.array_to_string(pg_catalog.current_schemas(false), E'\\x1f'), current_user, " +
		"pg_catalog.current_database(), " +
		"pg_catalog.current_setting('TimeZone')"
}()

// facts are what factsText reads.
type facts struct {
	strings, encoding, number, superuser, temporary, search string

	statement, lock string // time-outs in milliseconds
	path            string // the schemas of the search path that exist, with \x1f between them
	user, database  string
	zone            string // TimeZone
}

func factsOf(rows []row) (f facts, err error) {
	if len(rows) != 1 || len(rows[0]) < 12 {
		return f, fmt.Errorf("postgres: the server answered the first question with %d rows", len(rows))
	}
	r := rows[0]
	return facts{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11]}, nil
}

// place is all that decides what a name means, which tables may be read, and in which zone times are.
func (f facts) place() string { return f.database + "/" + f.user + "/" + f.path + "/" + f.zone }

// unguarded says why a connection cannot be guarded.
func (f facts) unguarded() error {
	switch {
	case f.strings != "on":
		return &exec.UnguardedError{Reason: "standard_conforming_strings is off, so a backslash in a string ends it " +
			"elsewhere than the text check sees",
			Remedy: "set it to on, as it is by default, in the data source name or with ALTER ROLE"}
	case f.encoding != "UTF8":
		return &exec.UnguardedError{Reason: "client_encoding is " + f.encoding +
			", so the server reads other characters than the text check",
			Remedy: "set it to UTF8 in the data source name"}
	case temporaryFirst.MatchString(f.search):
		return &exec.UnguardedError{Reason: "search_path begins with pg_temp, so the server makes a schema for temporary " +
			"tables whoever asks",
			Remedy: "leave pg_temp out of search_path, or put it last"}
	case f.major() < oldest:
		return &exec.UnguardedError{Reason: "the server says that it is version " + f.number,
			Remedy: fmt.Sprintf("use PostgreSQL %d or newer", oldest)}
	}
	return nil
}

// temporaryFirst finds a search path for which the server makes a schema of temporary tables as soon as it is looked
// at.
var temporaryFirst = regexp.MustCompile(`^\s*"?pg_temp(_\d+)?"?\s*(,|$)`)

// oldest is the oldest version whose settings and functions the guard can rely on.
const oldest = 12

func (f facts) major() int {
	n, _ := strconv.Atoi(f.number)
	return n / 10_000
}

// schemas is the search path of the caller, without that of temporary tables.
func (f facts) schemas() []string {
	return slices.DeleteFunc(strings.Split(f.path, "\x1f"), func(name string) bool {
		return name == "" || strings.HasPrefix(name, "pg_temp")
	})
}

// begin is the texts that begin a transaction under guard, of which the second one has facts as its result. No limit of
// the caller is set higher. idle is how long nothing may come from us, 0: for ever.
func (f facts) begin(isolation string, timeout, idle time.Duration, lowly bool) []string {
	path := "pg_catalog" // built-in functions first, temporary tables last: nothing hides another
	for _, s := range f.schemas() {
		path += ", " + exec.Language{}.Quote(s)
	}
	texts := []string{
		"BEGIN ISOLATION LEVEL " + isolation + " READ ONLY",
		factsText + ", pg_catalog.set_config('search_path', " + literal(path+", pg_temp") + ", true)",
	}
	set := func(name, value string) { texts = append(texts, "SET LOCAL "+name+" = "+literal(value)) }
	set("idle_in_transaction_session_timeout", strconv.FormatInt(idle.Milliseconds(), 10))
	texts = append(texts, fixed...)
	// A lock is waited for a little less long, so that its error is that of a lock.
	texts = append(texts, lowered("statement_timeout", f.statement, timeout*9/10)...)
	texts = append(texts, lowered("lock_timeout", f.lock, timeout*8/10)...)
	if f.major() >= 17 {
		set("transaction_timeout", "0") // a session may be open for long
	}
	if f.superuser == "on" && f.temporary == "-1" { // nobody else may set it
		set("temp_file_limit", "256MB")
	}
	if lowly {
		set("role", "pg_read_all_data")
	}
	return append(texts, "PREPARE "+locksName+" AS "+lockText, locks, "SAVEPOINT "+savepoint)
}

// lowered is the text that sets a time-out to another one, unless the setting of the caller, in milliseconds, is lower.
func lowered(name, setting string, to time.Duration) []string {
	if ms, _ := strconv.ParseFloat(setting, 64); ms != 0 && ms <= float64(to.Milliseconds()) {
		return nil
	}
	return []string{"SET LOCAL " + name + " = " + literal(milliseconds(to))}
}

// fixed are settings that depend on nothing.
var fixed = []string{
	"SET LOCAL max_parallel_workers_per_gather = 0", "SET LOCAL work_mem = '8MB'", "SET LOCAL jit = off",
	"SET LOCAL cursor_tuple_fraction = 1",  // or the cursor is planned for its first rows
	"SET LOCAL synchronize_seqscans = off", // the same order of rows twice
	"SET LOCAL transform_null_equals = off", "SET LOCAL DateStyle = 'ISO, YMD'", "SET LOCAL IntervalStyle = postgres",
	"SET LOCAL bytea_output = hex", "SET LOCAL extra_float_digits = 1",
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }
