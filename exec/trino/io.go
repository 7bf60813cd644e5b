package trino

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// ioPrefix makes the server say which tables a statement reads and writes.
const ioPrefix = "EXPLAIN (TYPE IO, FORMAT JSON) "

// ioTable is a table in the server's answer.
type ioTable struct {
	Catalog     string `json:"catalog"`
	SchemaTable struct {
		Schema string `json:"schema"`
		Table  string `json:"table"`
	} `json:"schemaTable"`
}

// inputs asks the server which tables a statement reads, what lies under views included. The server leaves out the views
// themselves, and tables of which no row can be in the result. A statement that writes is refused.
func (h *held) inputs(ctx context.Context, text string) ([]table, error) {
	var answer string
	if err := h.text(ctx, ioPrefix+text, &answer); err != nil {
		return nil, unshifted(err)
	}
	var plan struct {
		Inputs *[]struct {
			Table ioTable `json:"table"`
		} `json:"inputTableColumnInfos"`
		Output *json.RawMessage `json:"outputTable"`
	}
	if err := json.Unmarshal([]byte(answer), &plan); err != nil || plan.Inputs == nil {
		return nil, refuse(exec.ReasonGuard, "the server does not say which tables the statement reads")
	}
	if plan.Output != nil {
		return nil, &exec.RefusedError{Reason: sqltext.ReasonNotReadOnly, Detail: "the statement writes", Writes: true}
	}
	var tables []table
	for _, input := range *plan.Inputs {
		t := table{input.Table.Catalog, input.Table.SchemaTable.Schema, input.Table.SchemaTable.Table}
		if !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// line finds where in a text the server found a fault.
var line = regexp.MustCompile(`^line 1:(\d+)`)

// unshifted tells the place of a fault in the statement, without ioPrefix.
func unshifted(err error) error {
	invalid, ok := err.(*exec.InvalidError)
	if !ok {
		return err
	}
	moved := *invalid
	moved.Message = line.ReplaceAllStringFunc(invalid.Message, func(at string) string {
		column, _ := strconv.Atoi(at[len("line 1:"):])
		return "line 1:" + strconv.Itoa(max(1, column-len(ioPrefix)))
	})
	return &moved
}

// text runs a statement of ours whose one value is a text.
func (h *held) text(ctx context.Context, query string, value *string) error {
	statement, rows, err := h.send(ctx, query, h.session...)
	if err != nil {
		return h.Classify(err)
	}
	defer statement.Close()
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(value); err != nil {
			return h.Classify(err)
		}
	}
	if err := rows.Err(); err != nil {
		return h.Classify(err)
	}
	return nil
}

// systems are the schemas that tell of a server, of Trino and of what is behind its connectors.
var systems = []string{"information_schema", "pg_catalog", "mysql", "performance_schema", "sys", "system"}

// visible reports whether a table may be one of the schema: in no schema of a server's own, and no hidden table of
// metadata or of older data, which has a $ or an @ in its name.
func visible(schema, table string) bool {
	return !slices.Contains(systems, strings.ToLower(schema)) && !strings.ContainsAny(table, "$@")
}

// may reports whether a table is one that this dialect reads and the policy allows.
func (h *held) may(t table) bool {
	g := h.guard
	named := func(catalog string) bool { return strings.EqualFold(catalog, t.catalog) }
	if !named(h.at.catalog) && !slices.ContainsFunc(g.dialect.Catalogs, named) || named("system") || !visible(t.schema, t.name) {
		return false
	}
	return g.config.Policy.AllowsTable(h.at.label(t), t.name)
}

// label is the schema of a table as policies and schemas call it.
func (p home) label(t table) string {
	if t.catalog == p.catalog {
		return t.schema
	}
	return t.catalog + "." + t.schema
}

// resolve is the table that a name in FROM means, if it is one of the database.
func (p home) resolve(r sqltext.TableRef) table {
	t := table{p.catalog, p.schema, strings.ToLower(r.Name)}
	if r.Schema != "" {
		t.schema = strings.ToLower(r.Schema)
		if catalog, schema, ok := strings.Cut(t.schema, "."); ok {
			t.catalog, t.schema = catalog, schema
		}
	}
	return t
}

// quoted writes the whole name of a table.
func (t table) quoted() string {
	q := Dialect{}.Quote
	return q(t.catalog) + "." + q(t.schema) + "." + q(t.name)
}

// hidden is the refusal of a table that may not be read or is not there: where a policy is set, nobody learns which.
func hidden(name string) error {
	return refuse(exec.ReasonTable, fmt.Sprintf("%s is no table that may be read", strings.ToLower(name)))
}
