package exectest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// paramsScript makes a table for each type of column, with the same values as far as the type has them.
const paramsScript = `CREATE TABLE numbers(id INTEGER, c INTEGER);
CREATE TABLE decimals(id INTEGER, c DECIMAL(30, 2));
CREATE TABLE doubles(id INTEGER, c DOUBLE PRECISION);
CREATE TABLE texts(id INTEGER, c VARCHAR(40));
CREATE TABLE dates(id INTEGER, c DATE);
INSERT INTO numbers VALUES (1, 0), (2, 1), (3, 7), (4, NULL);
INSERT INTO decimals VALUES (1, 0), (2, 1), (3, 7.5), (4, NULL), (5, 9007199254740993), (6, 9007199254740992);
INSERT INTO doubles VALUES (1, 0), (2, 1), (3, 7.5), (4, NULL);
INSERT INTO texts VALUES (1, '0'), (2, ''), (3, 'abc'), (4, NULL), (5, '7x'), (6, '1'), (7, 'false'), (8, '9007199254740993'), (9, '0.0');
INSERT INTO dates VALUES (1, '2020-01-01'), (2, '1970-01-01'), (3, NULL);
`

// paramForms are rules that say that a column is equal to a parameter, more or less plainly. plain are those that each
// engine takes for every column.
var (
	plain      = []string{"c = :x", ":x = c", "(c) = (:x)", "((c)) IN ((:x), :y)", "c BETWEEN :x AND :y", "NOT c <> :x"}
	paramForms = append(plain, "CASE WHEN c = :x THEN 1 = 1 END", "coalesce(c, c) = :x", "lower(c) = :x",
		"c = coalesce(:x, :x)", "CASE c WHEN :x THEN 1 = 1 END", "nullif(c, :x) IS NULL AND c IS NOT NULL",
		"c = CASE WHEN 1 = 1 THEN :x END", "c + 0 = :x", "CAST(c AS CHAR(40)) = :x", "c = CAST(:x AS CHAR(40))", "c LIKE :x",
		"coalesce(c, c) IN (:x)", "abs(c) = :x")
)

// paramValues are those that a program sends which forgot to fill a field, and others.
var paramValues = []any{0, 0.0, math.Copysign(0, -1), false, true, "", "abc", nil, int64(9007199254740993),
	"12345678901234567890123", "9007199254740993", 1e30, 7, "7", "7x", 7.5, "7.50",
	"2020-01-01", []byte("abc"), []byte{}}

// checkRowParams compares columns of each type with values of each kind, by each form of a rule: it is no policy, the
// value is refused, or no row is given but those that have the value.
func checkRowParams(t testing.TB, e Engine) error {
	if _, ok := e.Dialect.(exec.RowFilterDialect); !ok {
		return nil
	}
	d := e.open(t, paramsScript)
	var errs []error
	counts := map[string]int{}
	for i, form := range paramForms {
		tables := []string{"numbers", "decimals", "doubles", "dates", "texts"}
		if strings.HasPrefix(form, "abs") || strings.Contains(form, "+") { // the rule itself makes numbers of texts
			tables = tables[:4]
		}
		all := [][]string{tables}
		for len(all) > 0 {
			tables, all = all[0], all[1:]
			rules := map[string]string{}
			for _, table := range tables {
				rules[table] = form
			}
			db, err := d.db(exec.Config{Policy: exec.Policy{Rows: rules}})
			if errors.As(err, new(*exec.PolicyError)) {
				if len(tables) > 1 {
					all = append(all, tables[:len(tables)/2], tables[len(tables)/2:])
				} else if counts["policies"]++; i < len(plain) {
					errs = append(errs, fmt.Errorf("%s: %w", form, err))
				}
				continue
			}
			if err != nil {
				return err
			}
			for _, table := range tables {
				for _, value := range paramValues {
					told, err := d.equals(t.Context(), db, table, value)
					if counts[told]++; err != nil {
						errs = append(errs, fmt.Errorf("%s: %s with %#v: %w", table, form, value, err))
					}
				}
			}
		}
	}
	t.Logf("%v", counts)
	return errors.Join(errs...)
}

// equals reads a table whose rule says that c is equal to a value. The error is about a row that has another value.
func (d *database) equals(ctx context.Context, db *exec.DB, table string, value any) (told string, err error) {
	view, err := db.For(&exec.Scope{Key: "x", Params: map[string]any{"x": value, "y": value}}, nil)
	if err != nil {
		return "", err
	}
	rows, err := view.Query(ctx, "SELECT id, c FROM "+table)
	if err != nil {
		if isRefused(err) || dbtest.RanNothing(err) || errors.As(err, new(*exec.InvalidError)) {
			return "refused", nil
		}
		return "", err
	}
	for _, row := range rows.Rows {
		if !sameValue(table, row[1], value) {
			return "wrong", fmt.Errorf("gives %v", row)
		}
	}
	return "answered", nil
}

// sameValue reports whether a column has a value, as numbers where it is one of numbers, and as texts else.
func sameValue(table string, have, want any) bool {
	if have == nil || want == nil {
		return false
	}
	if b, ok := want.([]byte); ok {
		want = string(b)
	}
	number := func(v any) *big.Rat {
		if f, ok := v.(float64); ok && f < 1e25 {
			return new(big.Rat).SetFloat64(f)
		}
		text := fmt.Sprint(v)
		if b, ok := v.(bool); ok {
			text = map[bool]string{true: "1", false: "0"}[b]
		}
		n, _ := new(big.Rat).SetString(text)
		return n
	}
	if a, b := number(have), number(want); a != nil && b != nil {
		return a.Cmp(b) == 0
	}
	return (table == "texts" || table == "dates") && strings.EqualFold(fmt.Sprint(have), fmt.Sprint(want))
}
