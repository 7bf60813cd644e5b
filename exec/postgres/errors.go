package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
)

// classify gives an error of the driver its type, by its SQLSTATE. It does not know whether the statement had begun to
// run: what only compiling can say has class 42, and all other messages may repeat stored values.
func classify(err error) error {
	var known *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case exec.IsClassified(err):
		return err
	case !errors.As(err, &known):
		if errors.As(err, new(*pgproto3.ExceededMaxBodyLenErr)) {
			return &exec.LimitError{Limit: "cell"}
		}
	default:
		message := quotes.Replace(known.Message)
		if typed := cmp.Or(ofState(known, message), ofClass(known, message)); typed != nil {
			return typed
		}
	}
	return fmt.Errorf("postgres: running a statement: %w", err) // the connection or the server
}

// ofState is the error of a state; nil: its class tells.
func ofState(e *pgconn.PgError, message string) error {
	switch e.Code {
	case "57014": // query_canceled: by the server's time-out, or by a caller, whose context tells
		return &exec.LimitError{Limit: "time"}
	case "25006": // read_only_sql_transaction
		return guard.Refuse("not-read-only", "%s", message)
	case "42501": // insufficient_privilege
		if strings.Contains(message, "function") {
			return guard.Refuse("function", "%s", message)
		}
		return guard.Refuse("table", "%s", message)
	case "54001", "54011", "54023": // too complex, too many columns or arguments
		return guard.Refuse("too-complex", "%s", message)
	case "55P03", "40P01", "40001", "53300": // a lock, a deadlock, a conflict on a standby, too many connections
		return fmt.Errorf("%w: %s", exec.ErrBusy, message)
	case "53200", "53400", "53100": // out of memory, over temp_file_limit, disk full
		return &exec.LimitError{Limit: "memory"}
	case "42601", "42602", "42622": // a syntax error, an invalid name, a name that is too long
		return invalid("syntax", e, message)
	case "42703", "42702", "42P01", "42883", "42725", "42704", "3F000": // see nameIn
		if nameIn(e.Code, message) != "" {
			return invalid("schema", e, message)
		}
		return invalid("compile", e, message) // operator does not exist: integer = text
	case "55000": // a materialized view without data
		return invalid("run", e, message)
	case "P0001": // the words are those of a function
		return &exec.InvalidError{Fault: "run", Message: "a function of the database raised an exception"}
	}
	return nil
}

// ofClass is the error of a class of states; nil: the statement is not to blame.
func ofClass(e *pgconn.PgError, message string) error {
	switch class := (e.Code + "  ")[:2]; class {
	case "42", "0A":
		return invalid("compile", e, message)
	case "54":
		return &exec.LimitError{Limit: "memory"}
	case "20", "21", "22", "23", "2F", "38", "39", "44", "P0":
		return &exec.InvalidError{Fault: "run", Message: guard.Masked(message, `"`, `"`)}
	case "XX":
		if strings.Contains(message, "alloc request size") { // a value over 1 GB
			return &exec.LimitError{Limit: "memory"}
		}
	}
	return nil
}

func invalid(fault string, e *pgconn.PgError, message string) error {
	return &exec.InvalidError{Fault: fault, Message: hinted(e.Code, strings.ReplaceAll(message, `"`, ""), e.Hint),
		Name: nameIn(e.Code, message)}
}

// quotes are those of messages in other languages.
var quotes = strings.NewReplacer("«", `"`, "»", `"`, "„", `"`, "“", `"`, "”", `"`)

// The ways in which messages write a name: in quotes, and without where a table or arguments stand beside it.
var (
	nameQuoted    = regexp.MustCompile(`"(.+?)"(?:$|[ ,.:])`)
	nameQualified = regexp.MustCompile(`^column (\S+\..+) does not exist$`)
	nameCalled    = regexp.MustCompile(`^(?:function|procedure) ([^(]+)\(`)
)

// nameIn finds the name that a message is about. Servers that speak other languages than English tell less.
func nameIn(state, message string) string {
	patterns := []*regexp.Regexp{nameQualified, nameQuoted}
	switch state {
	case "42883", "42725":
		patterns = []*regexp.Regexp{nameCalled}
	case "42703", "42702", "42P01", "42704", "3F000":
	default:
		return ""
	}
	for _, pattern := range patterns {
		if m := pattern.FindStringSubmatch(message); m != nil {
			return strings.Trim(strings.ReplaceAll(m[1], `"`, ""), " \u00a0")
		}
	}
	return ""
}

// hinted adds the server's hint. That for an unknown column may name one that the policy keeps back; those that are
// close are found in the schema.
func hinted(state, message, hint string) string {
	if hint == "" || state == "42703" {
		return message
	}
	return message + " (" + strings.ReplaceAll(quotes.Replace(hint), `"`, "") + ")"
}
