package exectest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// viewsScript makes views over views over views of tables with rules.
const viewsScript = `CREATE TABLE jobs(id INTEGER, team VARCHAR(9), name VARCHAR(40), due VARCHAR(10), cost INTEGER);
CREATE TABLE staff(id INTEGER, team VARCHAR(9), name VARCHAR(40), boss INTEGER, cost INTEGER);
INSERT INTO jobs VALUES (1, 'a', 'x', '2020-02-01', 7), (2, 'b', 'y', NULL, 8), (3, 'a', 'z', NULL, 2);
INSERT INTO staff VALUES (1, 'a', 'ann', NULL, 1), (2, 'a', 'bob', 1, 2), (3, 'b', 'cy', 1, 9);
CREATE VIEW open_jobs AS SELECT j.id, j.name, j.cost FROM jobs j WHERE (j.due IS NULL OR j.due > '2020-01-01') AND NOT j.cost < 1;
CREATE VIEW bosses AS SELECT s.id, s.name, coalesce(b.cost, s.cost) AS cost FROM (staff s LEFT JOIN staff b ON b.id = s.boss);
CREATE VIEW dear_jobs AS SELECT o.id, o.name, o.cost FROM open_jobs o WHERE (o.cost > 3 AND (o.name <> '')) OR o.id IN (SELECT i.id FROM open_jobs i WHERE i.cost > 2);
CREATE VIEW work AS SELECT o.id, substring(s.name, 1, 3) AS name, o.cost + s.cost AS cost FROM ((open_jobs o JOIN bosses s ON s.id = o.id) LEFT JOIN jobs j ON j.id = s.id);
CREATE VIEW top_jobs AS SELECT d.id, d.name, d.cost FROM dear_jobs d WHERE (d.id > 0) AND ((SELECT count(*) FROM work w WHERE w.id = d.id) >= 0);
CREATE VIEW busy AS SELECT w.id, w.name, w.cost FROM work w WHERE EXISTS (SELECT 1 FROM bosses b WHERE (b.id = w.id)) UNION SELECT d.id, d.name, d.cost FROM dear_jobs d;
`

// viewsRules are the rules of its tables.
var viewsRules = exec.Policy{Rows: map[string]string{"jobs": "team = :team", "staff": "team = :team AND cost < 100"}}

// statements writes random ones over the tables and views of viewsScript, each of which has the columns id, name and
// cost.
type statements struct {
	*rand.Rand
	aliases int
}

func (g *statements) one(of ...string) string { return of[g.IntN(len(of))] }

// query selects id, name and cost.
func (g *statements) query(depth int) string {
	if depth > 0 && g.IntN(6) == 0 {
		return g.query(depth-1) + g.one(" UNION ", " UNION ALL ") + g.query(depth-1)
	}
	from, alias := g.from(depth)
	text := "SELECT " + alias + ".id, " + g.text(alias, depth) + " AS name, " + g.number(alias, depth) + " AS cost FROM " +
		from + " WHERE " + g.condition(alias, depth)
	if g.IntN(5) == 0 {
		a := alias
		text = fmt.Sprintf("SELECT %s.id, min(%s.name) AS name, sum(%s.cost) AS cost FROM %s GROUP BY %s.id "+
			"HAVING (count(*) > 0)", a, a, a, from, a)
	}
	return text
}

func (g *statements) from(depth int) (text, alias string) {
	g.aliases++
	alias = fmt.Sprintf("t%d", g.aliases)
	text = g.one("jobs", "staff", "open_jobs", "bosses", "dear_jobs", "work", "top_jobs", "busy", "top_jobs", "busy")
	if depth > 0 && g.IntN(4) == 0 {
		text = "(" + g.query(depth-1) + ")"
	}
	text += " AS " + alias
	if depth > 0 && g.IntN(3) == 0 {
		other, name := g.from(depth - 1)
		text = fmt.Sprintf("(%s %s %s ON (%s.id = %s.id))", text, g.one("JOIN", "LEFT JOIN"), other, alias, name)
	}
	return text, alias
}

func (g *statements) number(alias string, depth int) string {
	switch of := alias + "." + g.one("id", "cost"); g.IntN(6) {
	case 0:
		return "(" + of + " + " + g.number(alias, 0) + ")"
	case 1:
		if depth > 0 {
			return "(SELECT max(q.cost) FROM (" + g.query(depth-1) + ") AS q WHERE q.id = " + of + ")"
		}
		return "coalesce(" + of + ", 0)"
	case 2:
		return "CASE WHEN (" + g.condition(alias, 0) + ") THEN " + of + " ELSE 0 END"
	default:
		return of
	}
}

func (g *statements) text(alias string, depth int) string {
	if depth > 0 && g.IntN(4) == 0 {
		return g.one("lower(", "upper(") + g.text(alias, depth-1) + ")"
	}
	if g.IntN(4) == 0 {
		return "substring(" + alias + ".name, 1, 2)"
	}
	return alias + ".name"
}

func (g *statements) condition(alias string, depth int) string {
	switch g.IntN(8) {
	case 0:
		return "(" + g.condition(alias, max(0, depth-1)) + g.one(" AND ", " OR ") + g.condition(alias, max(0, depth-1)) + ")"
	case 1:
		return "NOT (" + g.condition(alias, max(0, depth-1)) + ")"
	case 2:
		return "(" + g.text(alias, 0) + " > 'a')"
	case 3:
		if depth > 0 {
			return alias + ".id IN (SELECT q.id FROM (" + g.query(depth-1) + ") AS q)"
		}
	case 4:
		if depth > 0 {
			return "((SELECT count(*) FROM (" + g.query(depth-1) + ") AS q) > 0)"
		}
	case 5:
		if depth > 0 {
			return "EXISTS (SELECT 1 FROM (" + g.query(depth-1) + ") AS q WHERE q.id = " + alias + ".id)"
		}
	}
	return "(" + alias + "." + g.one("id", "cost") + g.one(" > ", " = ", " <> ") + g.one("0", "1", "7") + ")"
}

// checkRowViews runs random statements over views: what is answered without rules is answered with them, but for one in
// a hundred.
func checkRowViews(t testing.TB, e Engine) error {
	if _, ok := e.Dialect.(exec.RowFilterDialect); !ok {
		return nil
	}
	d := e.open(t, viewsScript)
	d.user.SetMaxOpenConns(2)
	free, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	db, err := d.db(exec.Config{Policy: viewsRules})
	if err != nil {
		return err
	}
	ruled, err := db.For(&exec.Scope{Key: "a", Params: map[string]any{"team": "a"}}, nil)
	if err != nil {
		return err
	}
	g := statements{Rand: rand.New(rand.NewPCG(38, 11))}
	var answered, heavy int
	if err := dbtest.Prompted(t.Context(), ruled); err != nil {
		return err
	}
	var texts [300]string
	for i := range texts {
		texts[i] = g.query(1 + g.IntN(2))
	}
	var without, with [len(texts)]error
	var group sync.WaitGroup
	for db, all := range map[*exec.DB]*[len(texts)]error{free: &without, ruled: &with} {
		group.Go(func() {
			for i, text := range texts {
				_, all[i] = db.Query(t.Context(), text)
			}
		})
	}
	group.Wait()
	var errs []error
	for i, text := range texts {
		if err := without[i]; err != nil {
			if r, ok := refused(err); !ok || r.Reason != "too-complex" {
				return fmt.Errorf("%s: %w", text, err)
			}
			heavy++
			continue
		}
		answered++
		if err := with[i]; err != nil {
			errs = append(errs, fmt.Errorf("%d bytes, %s: %w", len(text), text, err))
		}
	}
	doubled, nested := "WITH c0 AS (SELECT id FROM top_jobs)", "work"
	for i := range 18 {
		doubled += fmt.Sprintf(", c%d AS (SELECT x.id FROM c%d AS x JOIN c%d AS y ON y.id = x.id)", i+1, i, i)
		nested = fmt.Sprintf("(SELECT id + id + id AS id FROM %s AS x%d)", nested, i)
	}
	for _, attack := range []string{doubled + " SELECT id FROM c18", "SELECT id FROM " + nested + " AS x"} {
		_, err := ruled.Query(t.Context(), attack)
		if r, ok := refused(err); !ok || r.Reason != "too-complex" {
			return fmt.Errorf("%s: %w, want a refusal as too complex", attack, orNone(err))
		}
	}
	t.Logf("%d of %d statements that are answered without rules are answered with them; %d more are too complex",
		answered-len(errs), answered, heavy)
	if answered < 200 || len(errs)*100 > answered {
		return fmt.Errorf("of %d statements that are answered without rules %d are not with them: %s", answered, len(errs),
			strings.ToValidUTF8(errors.Join(errs...).Error(), ""))
	}
	return nil
}
