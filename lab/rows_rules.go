package main

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// rowsBase is one database with its rules, its copy, and more copies that tell what SQL does not determine.
type rowsBase struct {
	id       string
	schema   *schema.Schema
	rules    map[string]rowRule // by table
	ruled    *exec.DB           // the whole database with the rules
	twin     *exec.DB           // the same rules on the copy, where no row is hidden
	whole    *exec.DB           // without
	copied   *exec.DB
	variants []*exec.DB
	pools    []*sql.DB
}

// rowRule is the rule of one table.
type rowRule struct {
	text   string // as in Policy.Rows
	params map[string]any
}

func (b *rowsBase) close() {
	for _, db := range b.pools {
		db.Close()
	}
}

var named = regexp.MustCompile(`:\w+`)

// written is the rule with its values in it, each column behind prefix.
func (r rowRule) written(prefix string) string {
	text := strings.ReplaceAll(r.text, "@", prefix)
	return named.ReplaceAllStringFunc(text, func(name string) string {
		switch x := r.params[name[1:]].(type) {
		case string:
			return "'" + strings.ReplaceAll(x, "'", "''") + "'"
		default:
			return fmt.Sprint(x)
		}
	})
}

// base makes the copies of a database.
func (v *rowsVerb) base(ctx context.Context, id, path, temp string) (b *rowsBase, err error) {
	b = &rowsBase{id: id, rules: map[string]rowRule{}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if path, err = v.withStatistics(ctx, id, path, temp); err != nil {
		return b, err
	}
	source, err := v.open(path)
	if err != nil {
		return b, err
	}
	b.pools = append(b.pools, source)
	reveal := exec.Policy{Reveal: []string{"*"}}
	if b.whole, err = exec.New(source, v.dialect(), exec.Config{Policy: reveal}); err != nil {
		return b, err
	}
	if b.schema, err = b.whole.Schema(ctx); err != nil {
		return b, err
	}
	policy, scope := exec.Policy{Rows: map[string]string{}, Reveal: reveal.Reveal},
		&exec.Scope{Key: "lab", Params: map[string]any{}}
	for i := range b.schema.Tables {
		t := &b.schema.Tables[i]
		if t.Kind == "view" {
			continue
		}
		rule, err := chooseRule(ctx, source, b.whole.Language(), t, i)
		if err != nil {
			return b, fmt.Errorf("choosing a rule for %s: %w", t.Name, err)
		}
		b.rules[t.Name] = rule
		policy.Rows[quotedEntry(t.Name)] = strings.ReplaceAll(rule.text, "@", "")
		maps.Copy(scope.Params, rule.params)
	}
	under := func(pool *sql.DB) (*exec.DB, error) {
		ruled, err := exec.New(pool, v.dialect(), exec.Config{Policy: policy})
		if err != nil {
			return nil, err
		}
		return ruled.For(scope, nil)
	}
	if b.ruled, err = under(source); err != nil {
		return b, err
	}
	pools, err := v.copies(ctx, b, path, temp)
	b.pools = append(b.pools, pools...)
	if err != nil {
		return b, err
	}
	if b.twin, err = under(pools[0]); err != nil {
		return b, err
	}
	for i, pool := range pools {
		db, err := exec.New(pool, v.dialect(), exec.Config{Policy: reveal})
		if err != nil {
			return b, err
		}
		if i == 0 {
			b.copied = db
		} else {
			b.variants = append(b.variants, db)
		}
	}
	return b, nil
}

func quotedEntry(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// chooseRule takes the first column with two to forty values of which some are hidden and some not, or else the key.
func chooseRule(ctx context.Context, db *sql.DB, l exec.Language, t *schema.Table, place int) (rowRule, error) {
	from := t.TableName().Quoted(l)
	param := func(n int) string { return fmt.Sprintf("t%d_%d", place, n) }
	isKey := func(c string) bool { return slices.Contains(t.PrimaryKey, c) }
	for _, c := range t.Columns {
		if isKey(c.Name) {
			continue
		}
		values, counts, err := valuesOf(ctx, db, l.Quote(c.Name), from)
		if err != nil || len(values) < 2 || len(values) > 40 {
			continue
		}
		total := 0
		for _, n := range counts {
			total += n
		}
		h := fnv.New32()
		h.Write([]byte(t.Name))
		switch column := "@" + l.Quote(c.Name); h.Sum32() % 3 {
		case 0:
			at := len(values) / 2
			return rowRule{column + " >= :" + param(0), map[string]any{param(0): values[at]}}, nil
		case 1:
			r := rowRule{params: map[string]any{}}
			var in []string
			for i, kept := 0, 0; i < len(values) && kept*2 < total && i < len(values)-1; i++ {
				r.params[param(i)] = values[i]
				in, kept = append(in, ":"+param(i)), kept+counts[i]
			}
			r.text = column + " IN (" + strings.Join(in, ", ") + ")"
			return r, nil
		default:
			return rowRule{"(" + column + " <> :" + param(0) + " OR " + column + " IS NULL)",
				map[string]any{param(0): values[len(values)-1]}}, nil
		}
	}
	key := t.Columns[0].Name
	if len(t.PrimaryKey) > 0 {
		key = t.PrimaryKey[0]
	}
	// No parameter stands in a computation: MariaDB would compare it as something else.
	rule := rowRule{text: "@" + l.Quote(key) + " % 5 < 3"}
	if values, _, err := valuesOf(ctx, db, l.Quote(key), from); err != nil || len(values) == 0 {
		rule.text = "length(@" + l.Quote(key) + ") % 5 < 3"
	} else if _, isText := values[0].(string); isText {
		rule.text = "length(@" + l.Quote(key) + ") % 5 < 3"
	} else if _, isFloat := values[0].(float64); isFloat {
		rule = rowRule{"@" + l.Quote(key) + " >= :" + param(0), map[string]any{param(0): 3}}
	}
	return rule, nil
}

// valuesOf returns the values of a column in order; an error where one is neither a number nor a text.
func valuesOf(ctx context.Context, db *sql.DB, column, from string) (values []any, counts []int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT "+column+", count(*) FROM "+from+" WHERE "+column+" IS NOT NULL GROUP BY "+
		column+" ORDER BY "+column+" LIMIT 41")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v any
		var n int
		if err := rows.Scan(&v, &n); err != nil {
			return nil, nil, err
		}
		if text, ok := v.([]byte); ok { // how MariaDB's driver gives text
			v = string(text)
		}
		switch v.(type) {
		case int64, float64, string:
		default:
			return nil, nil, fmt.Errorf("a %T", v)
		}
		values, counts = append(values, v), append(counts, n)
	}
	return values, counts, rows.Err()
}
