package bigquery_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-sqlite3"

	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/schema"
)

// liteConnector opens SQLite with what GoogleSQL has and SQLite has not.
type liteConnector struct{ dsn string }

func (c liteConnector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }
func (liteConnector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterFunc("left_of", func(v any, n int) any {
			s, ok := v.(string)
			if !ok {
				return v
			}
			return string([]rune(s)[:min(n, len([]rune(s)))])
		}, true)
	}}
}

// reads compiles a statement and returns the tables of the database that it reads.
func (f *fake) reads(text string) (tables []string, err error) {
	conn, err := f.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	err = conn.Raw(func(dc any) error {
		c := dc.(*sqlite3.SQLiteConn)
		c.RegisterAuthorizer(func(op int, name, column, db string) int {
			if op == sqlite3.SQLITE_READ && !slices.Contains(tables, name) && !strings.HasPrefix(name, "sqlite_") {
				tables = append(tables, name)
			}
			return sqlite3.SQLITE_OK
		})
		defer c.RegisterAuthorizer(nil)
		s, err := c.Prepare(toLite(text))
		if err == nil {
			s.Close()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	known := f.schema()
	return slices.DeleteFunc(tables, func(name string) bool {
		t, ok := known.Lookup("", name)
		return !ok || t.Kind != "table"
	}), nil
}

// mostKept is how many rows of a result the fake keeps.
const mostKept = 20_000

// run runs a statement on SQLite.
func (f *fake) run(ctx context.Context, body insertBody) (answer, *refusal) {
	var args []any
	for _, p := range body.Configuration.Query.QueryParameters {
		switch p.ParameterType.Type {
		case "INT64":
			n, _ := strconv.ParseInt(p.ParameterValue.Value, 10, 64)
			args = append(args, n)
		default:
			args = append(args, p.ParameterValue.Value)
		}
	}
	rows, err := f.db.QueryContext(ctx, toLite(body.Configuration.Query.Query), args...)
	if err == nil {
		defer rows.Close()
		var a answer
		if a, err = record(rows); err == nil {
			return a, nil
		}
	}
	switch ctx.Err() {
	case context.DeadlineExceeded:
		return answer{}, &refusal{400, "timeout", "Job timed out"}
	case context.Canceled:
		return answer{}, &refusal{400, "stopped", "Job execution was cancelled: User requested cancellation"}
	}
	return answer{}, liteError(err)
}

// record reads rows as the API writes them.
func record(rows *sql.Rows) (answer, error) {
	names, err := rows.Columns()
	if err != nil {
		return answer{}, err
	}
	declared, err := rows.ColumnTypes()
	if err != nil {
		return answer{}, err
	}
	types := make([]string, len(names))
	var all [][]any
	for len(all) < mostKept && rows.Next() {
		row := make([]any, len(names))
		dest := make([]any, len(names))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return answer{}, err
		}
		for i, v := range row {
			switch v := v.(type) {
			case int64:
				if types[i] == "" {
					types[i] = "INTEGER"
				}
			case float64:
				types[i] = "FLOAT"
			case string:
				types[i] = "STRING"
			case []byte:
				types[i], row[i] = "STRING", string(v)
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return answer{}, err
	}
	var fields []any
	for i, name := range names {
		if types[i] == "" {
			types[i] = apiType(declared[i].DatabaseTypeName())
		}
		fields = append(fields, map[string]any{"name": name, "type": types[i], "mode": "NULLABLE"})
	}
	schema, _ := json.Marshal(map[string]any{"fields": fields})
	a := answer{schema: string(schema)}
	for _, row := range all {
		cells := make([]any, len(row))
		for i, v := range row {
			cells[i] = map[string]any{"v": nil}
			if v != nil {
				cells[i] = map[string]any{"v": fmt.Sprint(v)}
			}
		}
		text, err := json.Marshal(map[string]any{"f": cells})
		if err != nil {
			return a, err
		}
		a.rows = append(a.rows, string(text))
	}
	return a, nil
}

// schema is what SQLite has.
func (f *fake) schema() *schema.Schema {
	s, err := f.lite.Schema(context.Background())
	if err != nil {
		f.t.Error(err)
		return &schema.Schema{}
	}
	return s
}

func apiType(declared string) string {
	switch word, _, _ := strings.Cut(strings.ToUpper(declared), "("); word {
	case "INTEGER", "INT", "BIGINT":
		return "INTEGER"
	case "REAL", "DOUBLE":
		return "FLOAT"
	}
	return "STRING"
}

// describe is tables.get of a table of SQLite.
func describe(t *schema.Table, out map[string]any) {
	out["type"], out["lastModifiedTime"] = "TABLE", "1700000000000"
	if t.Kind == "view" {
		_, query, _ := strings.Cut(t.Definition, " AS ")
		out["type"], out["view"] = "VIEW", map[string]any{"query": query, "useLegacySql": false}
	}
	var fields, foreign []any
	for _, c := range t.Columns {
		field := map[string]any{"name": c.Name, "type": apiType(c.Type), "mode": "NULLABLE",
			"defaultValueExpression": c.Default}
		if c.NotNull {
			field["mode"] = "REQUIRED"
		}
		fields = append(fields, field)
	}
	for i, key := range t.ForeignKeys {
		var columns []any
		for i := range key.Columns {
			columns = append(columns, map[string]any{"referencingColumn": key.Columns[i], "referencedColumn": key.RefColumns[i]})
		}
		table := reference(project + "." + home + "." + key.RefTable)
		foreign = append(foreign, map[string]any{"name": fmt.Sprint("fk", i), "referencedTable": table,
			"columnReferences": columns})
	}
	out["schema"] = map[string]any{"fields": fields}
	constraints := map[string]any{"foreignKeys": foreign}
	if t.PrimaryKey != nil {
		constraints["primaryKey"] = map[string]any{"columns": t.PrimaryKey}
	}
	out["tableConstraints"] = constraints
}

func (f *fake) data(r *http.Request, in, set, name string) (any, *refusal) {
	f.mu.Lock()
	recorded, ok := f.tables[in+"."+set+"."+name]
	f.mu.Unlock()
	if ok {
		return page(r, recorded.rows), nil
	}
	if _, ok := f.schema().Lookup("", name); in+"."+set != project+"."+home || !ok {
		return nil, &refusal{404, "notFound", "Not found: Table " + name}
	}
	var total, start int
	if err := f.db.QueryRow(`SELECT count(*) FROM "` + name + `"`).Scan(&total); err != nil {
		return nil, liteError(err)
	}
	for _, parameter := range []string{"startIndex", "pageToken"} {
		if text := r.URL.Query().Get(parameter); text != "" {
			start, _ = strconv.Atoi(text)
		}
	}
	rows, err := f.db.Query(fmt.Sprintf("SELECT * FROM %q LIMIT %d OFFSET %d", name, mostPage, start))
	if err != nil {
		return nil, liteError(err)
	}
	defer rows.Close()
	a, err := record(rows)
	if err != nil {
		return nil, liteError(err)
	}
	all := make([]string, total)
	copy(all[min(start, total):], a.rows)
	return page(r, all), nil
}

// toLite writes GoogleSQL for SQLite, as far as the statements of the suite go: strings and names with its quotes, no
// dataset before a table, UNION without DISTINCT.
func toLite(text string) string {
	d := bq.Dialect{}.Language().Text
	tokens := slices.Collect(d.Tokens(text))
	out := ""
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		next := func(k int) string {
			if i+k < len(tokens) {
				return tokens[i+k].Text
			}
			return ""
		}
		value := d.Value(t)
		switch {
		case next(1) == "." && (value == home || value == project):
			i++
		case t.Text[0] == '`':
			value = strings.NewReplacer(`\\`, `\`, "\\`", "`").Replace(t.Text[1 : len(t.Text)-1])
			parts := strings.Split(value, ".")
			if len(parts) == 3 || len(parts) == 2 && parts[0] == home {
				value = parts[len(parts)-1]
			}
			out += `"` + strings.ReplaceAll(value, `"`, `""`) + `"`
		case t.Text[0] == '\'' || t.Text[0] == '"':
			out += "'" + strings.ReplaceAll(value, "'", "''") + "'"
		case strings.EqualFold(t.Text, "DISTINCT") && strings.HasSuffix(strings.ToUpper(strings.TrimSpace(out)), "UNION"):
		case strings.EqualFold(t.Text, "LEFT") && next(1) == "(":
			out += "left_of"
		default:
			out += t.Text
		}
	}
	return out
}

// liteError says what SQLite says in the words of the service.
func liteError(err error) *refusal {
	message := err.Error()
	name := message[strings.LastIndex(message, " ")+1:]
	switch {
	case strings.HasPrefix(message, "cannot join using column "):
		name, _, _ := strings.Cut(strings.TrimPrefix(message, "cannot join using column "), " ")
		return invalid("Column %s in USING clause not found on left side of join at [1:1]", name)
	case strings.HasPrefix(message, "no such column"):
		return invalid("Unrecognized name: %s at [1:8]", name)
	case strings.HasPrefix(message, "no such table"):
		return &refusal{404, "notFound", "Not found: Table " + project + ":" + home + "." + name +
			" was not found in location US"}
	case strings.HasPrefix(message, "no such function"):
		return invalid("Function not found: %s at [1:8]", name)
	case strings.HasPrefix(message, "ambiguous column name"):
		return invalid("Column name %s is ambiguous at [1:8]", name)
	case strings.Contains(message, "syntax error"):
		return invalid("Syntax error: %s at [1:1]", message)
	}
	if errors.As(err, new(sqlite3.Error)) {
		return invalid("%s at [1:1]", message)
	}
	return &refusal{500, "backendError", message}
}
