package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// listTables lists the tables and views that may be read, in the order of the schema, with their numbers of columns.
func listTables(_ context.Context, env *strategy.Env, _ Input) (Observation, error) {
	shown, _ := env.Schema.Presentable()
	var list []string
	for _, t := range shown.Tables {
		list = append(list, fmt.Sprintf("%s (%d %s)", t.TableName().Quoted(env), len(t.Columns),
			words.Plural("column", len(t.Columns))))
	}
	return Observation{Text: fmt.Sprintf("%d %s: %s", len(list), words.Plural("table", len(list)),
		strings.Join(list, ", ")), OK: true}, nil
}

// describeTable shows columns, keys and descriptions of a table, and example values where they may be
// shown.
func describeTable(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	part, t, err := tableOf(env, in.Argument)
	if err != nil {
		return Observation{}, err
	}
	keys := t.References(env)
	r, err := schema.Renderer{Names: env, WithoutValues: env.WithoutValues,
		MaxChars: max(maxObservation-len(keys), 1)}.Render(ctx, part)
	lines := strings.Split(strings.TrimSpace(r.Text+keys), "\n")
	return Observation{Text: strings.Join(lines, " | "), OK: err == nil}, err // a comment ends where its line does
}

// sampleRows shows three stored rows of a table. Columns marked Sensitive are left out, and views are not
// read. Under Env.WithoutValues it shows nothing.
func sampleRows(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	if env.WithoutValues {
		return Observation{}, errHidden
	}
	part, _, err := tableOf(env, in.Argument)
	if err != nil {
		return Observation{}, err
	}
	found, err := env.Samples(ctx, part, exec.SampleOptions{Rows: 3})
	if err != nil || len(found) == 0 {
		return Observation{Text: "no rows can be shown", OK: true}, err
	}
	var rows []string
	for _, row := range found[0].Rows {
		var cells []string
		for i, v := range row {
			name := found[0].Columns[i]
			if text, ok := prompttext.Literal(v); ok && prompttext.NameFault(prompttext.ShownName(name)) == "" {
				cells = append(cells, env.Quote(name)+"="+text)
			}
		}
		rows = append(rows, "("+strings.Join(cells, ", ")+")")
	}
	return Observation{Text: strings.Join(rows, " "), OK: true, Rows: len(rows)}, nil
}

const maxProbes = 200

// findValue shows the columns that hold a value, compared as the engine compares: a text in columns of text, a number
// in all. Columns marked Sensitive and views are not looked into. It makes at most 200 look-ups (exec.DB.Probe). Under
// Env.WithoutValues it tells nothing.
func findValue(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	value := bare(in.Argument)
	switch {
	case env.WithoutValues:
		return Observation{}, errHidden
	case value == "" || len(value) > maxObservation:
		return Observation{}, errors.New("give one value")
	}
	runner, err := env.DB.Runner(exec.Bounds{})
	if err != nil {
		return Observation{}, err
	}
	defer runner.Close()
	shown, _ := env.Schema.Presentable()
	var columns []string
	note, probes := "", 0
	for _, t := range shown.Tables {
		for _, c := range t.Columns {
			if c.Sensitive || t.Kind == "view" {
				continue
			}
			if probes++; probes > maxProbes {
				note = fmt.Sprintf("; only the first %d columns were looked into", maxProbes)
				break
			}
			found, err := runner.Probe(ctx, t.Schema, t.Name, c.Name, typed(value, c.Type))
			if cerr := ctx.Err(); cerr != nil {
				return Observation{}, cerr
			}
			switch {
			case err != nil && note == "":
				note = "; some columns could not be looked into"
			case found:
				columns = append(columns, t.TableName().Quoted(env)+"."+env.Quote(c.Name))
			}
		}
	}
	if len(columns) == 0 {
		return Observation{Text: "no column holds this value, spelled so" + note, OK: true}, nil
	}
	return Observation{Text: "it is stored in " + strings.Join(columns, ", ") + note, OK: true}, nil
}

// typed is a value as a column of a type may hold it.
func typed(value, columnType string) any {
	kind := strings.ToUpper(columnType)
	if strings.Contains(kind, "CHAR") || strings.Contains(kind, "TEXT") || strings.Contains(kind, "CLOB") {
		return value
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		return f
	}
	return value
}

// explainSQL shows the plan of a statement, which is not run.
func explainSQL(ctx context.Context, env *strategy.Env, in Input) (Observation, error) {
	found, err := in.Examiner.Extract(ctx, in.Sample, in.Argument, true)
	if err != nil {
		return Observation{}, err
	}
	plan, err := env.DB.Explain(ctx, found.SQL())
	if err != nil {
		return Observation{}, err
	}
	var lines []string
	for _, row := range plan.Rows {
		lines = append(lines, row.Detail)
	}
	return Observation{Text: "plan: " + strings.Join(lines, "; "), OK: true}, nil
}

var errHidden = errors.New("stored values are not shown here")

// bare is an argument without the quotes around it.
func bare(argument string) string { return strings.Trim(words.Line(argument), "`'\" ;") }

// tableOf is the table that an argument names, also as a part of the schema.
func tableOf(env *strategy.Env, argument string) (*schema.Schema, *schema.Table, error) {
	parts := strings.Split(bare(argument), ".")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], "`'\"[] ")
	}
	name, in := parts[len(parts)-1], ""
	if len(parts) == 2 {
		in = parts[0]
	}
	shown, _ := env.Schema.Presentable()
	t, ok := shown.Lookup(in, name)
	if !ok {
		return nil, nil, fmt.Errorf("there is no table %s", words.Short(name, 60))
	}
	return shown.Project(func(other *schema.Table) bool { return other == t }, nil), t, nil
}
