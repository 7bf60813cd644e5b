// Package selectstar runs "SELECT *" of a table that has columns which look like secrets: without them. The guard
// refuses such a statement, since a star would read them; what stands here writes the names of the others in its place.
package selectstar

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Refused reports whether a statement was refused for what a star of it would read.
func Refused(err error) bool {
	var refused *exec.RefusedError
	return errors.As(err, &refused) && refused.Name == "*"
}

// Schemas are what a database has for a reader.
type Schemas struct {
	Readable *schema.Schema
	Hidden   []string // the columns that look like secrets, as table.column, and none that the policy denies
}

// Without returns the statement with the columns that may be read in place of each star of its outermost select list.
// left names those that only look like secrets, as table.column; no column that the policy denies is named. ok is false
// where the statement is not plain enough: several queries, a join whose columns are merged, a source that is no table
// that may be read.
func Without(d exec.Language, s Schemas, sql string) (without string, left []string, ok bool) {
	r := reader{language: d, Schemas: s}
	for t := range d.Text.Parse(sql).Tokens() {
		r.tokens = append(r.tokens, t)
	}
	if !r.outline() {
		return "", nil, false
	}

	var out strings.Builder
	at := 0
	for _, star := range r.stars {
		columns, hidden := r.columns(star.of)
		if len(columns) == 0 {
			return "", nil, false
		}
		out.WriteString(sql[at:star.from] + strings.Join(columns, ", "))
		left, at = append(left, hidden...), star.until
	}
	out.WriteString(sql[at:])
	return out.String(), left, true
}

// Told says which columns are left out.
func Told(left []string) string {
	switch len(left) {
	case 0:
		return "columns that may not be read are left out"
	case 1:
		return left[0] + " is left out: its name looks like that of a secret"
	}
	return strings.Join(left, ", ") + " are left out: their names look like those of secrets"
}

// reader finds the stars and the sources of one statement.
type reader struct {
	language exec.Language
	Schemas
	tokens  []sqltext.Token
	stars   []star
	sources []source
}

// star is a star of the select list.
type star struct {
	of          string // the alias before it; "": all sources
	from, until int    // its bytes
}

// source is a table of the statement.
type source struct {
	table *schema.Table
	alias string
}

// merging are words of statements whose outermost list is not that of one SELECT, or whose columns are merged.
var merging = []string{"UNION", "EXCEPT", "INTERSECT", "NATURAL", "USING", "WITH"}

// outline finds the stars before FROM and the tables behind it, outside of brackets.
func (r *reader) outline() bool {
	if len(r.tokens) == 0 || !strings.EqualFold(r.tokens[0].Text, "SELECT") {
		return false
	}
	depth, behind := 0, false
	for i, t := range r.tokens {
		switch word := strings.ToUpper(t.Text); {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case depth > 0:
		case t.Kind == sqltext.Word && slices.Contains(merging, word):
			return false
		case t.Kind == sqltext.Word && (word == "FROM" || word == "JOIN"):
			behind = true
			if !r.source(i + 1) {
				return false
			}
		case behind && t.Text == "," && r.inFrom(i):
			if !r.source(i + 1) {
				return false
			}
		case !behind && t.Text == "*":
			r.star(i)
		}
	}
	return len(r.stars) > 0 && len(r.sources) > 0
}

// inFrom reports whether a comma stands among the sources: no clause has begun behind FROM.
func (r *reader) inFrom(i int) bool {
	for _, t := range r.tokens[:i] {
		if t.Kind == sqltext.Word && slices.Contains([]string{"WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "WINDOW"},
			strings.ToUpper(t.Text)) {
			return false
		}
	}
	return true
}

// star notes the star at i, unless it multiplies.
func (r *reader) star(i int) {
	before := r.tokens[i-1]
	switch word := strings.ToUpper(before.Text); {
	case before.Text == "," || word == "SELECT" || word == "DISTINCT" || word == "ALL":
		r.stars = append(r.stars, star{"", r.tokens[i].Pos, r.tokens[i].Pos + 1})
	case before.Text == "." && i > 1:
		of := r.tokens[i-2]
		r.stars = append(r.stars, star{unquoted(of.Text), of.Pos, r.tokens[i].Pos + 1})
	}
}

func unquoted(name string) string { return strings.Trim(name, "\"`[]") }

// source reads a table with its alias.
func (r *reader) source(i int) bool {
	text := func(i int) string {
		if i < len(r.tokens) && (r.tokens[i].Kind == sqltext.Word || r.tokens[i].Kind == sqltext.QuotedName) {
			return unquoted(r.tokens[i].Text)
		}
		return ""
	}
	in, name := "", text(i)
	if i+2 < len(r.tokens) && r.tokens[i+1].Text == "." {
		in, name, i = name, text(i+2), i+2
	}
	at := slices.IndexFunc(r.Readable.Tables, func(t schema.Table) bool {
		return strings.EqualFold(t.Name, name) && (in == "" || strings.EqualFold(r.Readable.SchemaOf(&t), in))
	})
	if at < 0 || name == "" {
		return false
	}

	s := source{&r.Readable.Tables[at], name}
	alias := text(i + 1)
	if strings.EqualFold(alias, "AS") {
		alias = text(i + 2)
	}
	if alias != "" && !slices.Contains(clauses, strings.ToUpper(alias)) {
		s.alias = alias
	}
	r.sources = append(r.sources, s)
	return true
}

// clauses are the words that stand behind a table and are no alias of it.
var clauses = strings.Fields("WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH WINDOW JOIN INNER LEFT RIGHT FULL CROSS " +
	"ON STRAIGHT_JOIN FOR INDEXED NOT TABLESAMPLE")

// columns are those that a star stands for, as the statement names them, and those that are left out.
func (r *reader) columns(of string) (columns, left []string) {
	for _, s := range r.sources {
		if of != "" && !strings.EqualFold(of, s.alias) {
			continue
		}
		left = append(left, r.hidden(s.table)...)
		for _, c := range s.table.Columns {
			name := r.language.Quote(c.Name)
			if len(r.sources) > 1 || of != "" {
				name = r.language.Quote(s.alias) + "." + name
			}
			columns = append(columns, name)
		}
	}
	return columns, left
}

// hidden are the columns of a table that look like secrets, each once where several schemas have a table of the name.
func (r *reader) hidden(t *schema.Table) []string {
	names := slices.DeleteFunc(slices.Sorted(slices.Values(r.Hidden)), func(name string) bool {
		return !strings.HasPrefix(name, t.Name+".")
	})
	return slices.Compact(names)
}

// Run runs a statement, and again without the columns that look like secrets where a star was refused for them. told
// names them. The error is that of the first run where nothing else could be run.
func Run[T any](ctx context.Context, db *exec.DB, sql string, run func(sql string) (T, error)) (rows T, told string,
	err error) {
	rows, err = run(sql)
	if !Refused(err) {
		return rows, "", err
	}
	s, serr := db.Snapshot(ctx)
	if serr != nil {
		return rows, "", err
	}
	without, left, ok := Without(db.Language(), Schemas{s.Schema, s.Hidden()}, sql)
	if !ok {
		return rows, "", err
	}
	again, aerr := run(without)
	if aerr != nil {
		return rows, "", err
	}
	return again, Told(left), nil
}
