package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// How far values are looked for that are spelled alike.
const (
	alikeColumns = 60              // columns of text
	alikeValues  = 2000            // different values of each
	alikeTime    = 3 * time.Second // for all of them
	alikeShown   = 5
)

// near is a stored value that is spelled like another one.
type near struct {
	column, value string
	rows          int64
	distance      int
}

// alike finds values of columns of text that are spelled like one, with how many rows have them: "customers.country:
// Germany (412 rows)". It is "" where there are none.
func alike(ctx context.Context, db *exec.DB, s *schema.Schema, value string) string {
	ctx, cancel := context.WithTimeout(ctx, alikeTime)
	defer cancel()

	var found []near
	looked := 0
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			if c.Sensitive || t.Kind == "view" || !isText(c.Type) || looked == alikeColumns {
				continue
			}
			looked++
			revealed := db.Policy().Reveals(s.SchemaOf(&t), t.Name, c.Name)
			found = append(found, alikeIn(ctx, db, t, c.Name, value, revealed)...)
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })

	var told []string
	for _, n := range found[:min(alikeShown, len(found))] {
		told = append(told, fmt.Sprintf("%s: %s (%d %s)", n.column, words.Short(words.Line(words.Clean(n.value)), maxName),
			n.rows, words.Plural("row", int(n.rows))))
	}
	return strings.Join(told, "; ")
}

func isText(kind string) bool {
	kind = strings.ToUpper(kind)
	return strings.Contains(kind, "CHAR") || strings.Contains(kind, "TEXT") || strings.Contains(kind, "CLOB") ||
		strings.Contains(kind, "STRING")
}

// alikeIn looks into one column. One that cannot be read has none. What looks like a secret, and addresses and phone
// numbers, are found where they are revealed alone.
func alikeIn(ctx context.Context, db *exec.DB, t schema.Table, column, value string, revealed bool) (found []near) {
	name, of := db.Language().Quote(column), t.TableName().Quoted(db.Language())
	rows, err := db.QueryWithin(ctx,
		fmt.Sprintf("SELECT %s, count(*) FROM %s WHERE %[1]s IS NOT NULL GROUP BY %[1]s LIMIT %[3]d", name, of, alikeValues),
		exec.Bounds{Rows: alikeValues})
	if err != nil {
		return nil
	}

	wanted := strings.ToLower(strings.TrimSpace(value))
	for _, row := range rows.Rows {
		stored, ok := row[0].(string)
		n, counted := row[1].(int64)
		if !ok || !counted || !revealed && (words.SecretValue(stored) || snapshot.IsContact(stored)) {
			continue
		}
		lower := strings.ToLower(stored)
		distance := words.Distance(wanted, lower, max(1, len(wanted)/3))
		switch {
		case len(wanted) > 3 && strings.Contains(lower, wanted):
			distance = min(distance, 1)
		case distance > max(1, len(wanted)/3):
			continue
		}
		found = append(found, near{t.TableName().String() + "." + column, stored, n, distance})
	}
	return found
}

// counted adds to the columns that hold a value how many rows have it: "customers.country (6 rows)". A column that
// cannot be counted stays as it is.
func counted(ctx context.Context, db *exec.DB, s *schema.Schema, held, value string) string {
	ctx, cancel := context.WithTimeout(ctx, alikeTime)
	defer cancel()

	columns := strings.Split(held, ", ")
	quoter := db.Language().PromptQuoter()
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			at := slices.Index(columns, t.TableName().Quoted(quoter)+"."+quoter.Quote(c.Name))
			if at < 0 || strings.Contains(value, `\`) { // some engines escape with it
				continue
			}
			literal := "'" + strings.ReplaceAll(value, "'", "''") + "'"
			if _, err := strconv.ParseFloat(value, 64); err == nil && !isText(c.Type) {
				literal = value
			}
			rows, err := db.QueryWithin(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = %s",
				t.TableName().Quoted(db.Language()), db.Language().Quote(c.Name), literal), exec.Bounds{Rows: 1})
			if err != nil || len(rows.Rows) == 0 {
				continue
			}
			if n, ok := rows.Rows[0][0].(int64); ok {
				columns[at] += fmt.Sprintf(" (%d %s)", n, words.Plural("row", int(n)))
			}
		}
	}
	return strings.Join(columns, ", ")
}
