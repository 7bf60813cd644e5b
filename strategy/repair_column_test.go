package strategy_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/strategy"
)

const heroes = `
CREATE TABLE sides (id INTEGER PRIMARY KEY, side TEXT);
CREATE TABLE heroes (id INTEGER PRIMARY KEY, hero TEXT, side_id INTEGER REFERENCES sides(id), left_eye INTEGER REFERENCES colours(id),
	right_eye INTEGER REFERENCES colours(id));
CREATE TABLE colours (id INTEGER PRIMARY KEY, colour TEXT);
CREATE TABLE powers (id INTEGER PRIMARY KEY, power TEXT);
CREATE TABLE hero_powers (hero_id INTEGER REFERENCES heroes(id), power_id INTEGER REFERENCES powers(id));
CREATE TABLE marks (power_id INTEGER REFERENCES powers(id), mark INTEGER);
INSERT INTO marks VALUES (1, 5);
INSERT INTO sides VALUES (1, 'good'), (2, 'bad');
INSERT INTO colours VALUES (1, 'green');
INSERT INTO powers VALUES (1, 'flight');
INSERT INTO heroes VALUES (1, 'Ajax', 1, 1, 1), (2, 'Bane', 2, 1, 1);
INSERT INTO hero_powers VALUES (1, 1);`

// TestMisplacedColumns: a column that a statement looks for in the wrong table is taken from the only one that can be
// meant, without a call. Where several can be, the repair says which tables have it and how they are joined. The
// statements are of the kinds that Qwen2.5-Coder-1.5B wrote, and repeated when it was asked.
func TestMisplacedColumns(t *testing.T) {
	for _, tt := range []struct {
		why, sql string
		want     string // the statement that runs without a call; "": the model is asked
		told     string // the repair says
	}{
		{why: "another table of the statement has it",
			sql:  "SELECT T2.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id",
			want: "SELECT T1.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id"},
		{why: "everywhere in the statement", sql: "SELECT T2.hero FROM heroes T1, hero_powers T2 WHERE T1.id = T2.hero_id " +
			"GROUP BY T2.hero ORDER BY T2.hero",
			want: "SELECT T1.hero FROM heroes T1, hero_powers T2 WHERE T1.id = T2.hero_id GROUP BY T1.hero ORDER BY T1.hero"},
		{why: "a foreign key leads to it", sql: "SELECT T2.power FROM heroes AS T1 INNER JOIN hero_powers AS T2 " +
			"ON T1.id = T2.hero_id WHERE T1.hero = 'Ajax'",
			want: "SELECT powers.power FROM heroes AS T1 INNER JOIN hero_powers AS T2 ON T1.id = T2.hero_id " +
				"JOIN powers ON T2.power_id = powers.id WHERE T1.hero = 'Ajax'"},
		{why: "at the end of the statement", sql: "SELECT hero_powers.power FROM hero_powers;",
			want: "SELECT powers.power FROM hero_powers JOIN powers ON hero_powers.power_id = powers.id"},
		{why: "behind a comment", sql: "SELECT p.hero_id FROM hero_powers p -- all\nWHERE p.power = 'flight'",
			want: "SELECT p.hero_id FROM hero_powers p JOIN powers ON p.power_id = powers.id -- all\n" +
				"WHERE powers.power = 'flight'"},
		{why: "the name of a table in place of its alias", sql: "SELECT heroes.hero FROM heroes AS T1 " +
			"JOIN hero_powers AS T2 ON T1.id = T2.hero_id",
			want: "SELECT T1.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id"},
		{why: "the table is not read, and another one has a column of the name",
			sql:  "SELECT T3.hero FROM heroes T1 JOIN hero_powers T2 ON T1.id = T2.hero_id",
			told: "No table of the statement is T3 with a column hero. The statement has it as T1.hero."},
		{why: "the table of the outer SELECT has it: all heroes, or none",
			sql:  "SELECT hero FROM heroes h WHERE NOT EXISTS (SELECT 1 FROM hero_powers p WHERE p.hero = h.hero)",
			told: "Existing names that are close: heroes.hero"},
		{why: "two arms use one alias", sql: "SELECT T1.hero FROM heroes T1 JOIN sides T2 ON T1.side_id = T2.id " +
			"UNION SELECT T1.hero FROM powers T1 JOIN heroes T2 ON T1.id = T2.id",
			told: "Existing names that are close: heroes.hero"},
		{why: "WHERE compares the tables", sql: "SELECT a.hero FROM heroes a, sides b WHERE a.side_id = b.side_id",
			told: "b is sides, which has no column side_id. The statement has it as a.side_id."},
		{why: "all columns", sql: "SELECT * FROM hero_powers p WHERE p.power = 'flight'",
			told: "powers has it: add JOIN powers ON p.power_id = powers.id, and write powers.power."},
		{why: "rows without a partner", sql: "SELECT T1.hero, T2.power FROM heroes T1 LEFT JOIN hero_powers T2 " +
			"ON T1.id = T2.hero_id",
			told: "powers has it: add JOIN powers ON T2.power_id = powers.id, and write powers.power."},
		{why: "another table has the name as its alias", sql: "SELECT powers.power FROM hero_powers powers", told: "powers"},
		{why: "a LEFT JOIN's empty side: heroes without a power", sql: "SELECT T1.hero FROM heroes T1 " +
			"LEFT JOIN hero_powers T2 ON T1.id = T2.hero_id WHERE T2.id IS NULL",
			told: "T2 is hero_powers, which has no column id. The statement has it as T1.id."},
		{why: "the table has the column under a longer name", sql: "SELECT p.id FROM hero_powers p JOIN heroes h " +
			"ON h.id = p.hero_id", told: "p is hero_powers, which has no column id. The statement has it as h.id."},
		{why: "another copy of the table has the join", sql: "SELECT a.hero_id FROM hero_powers a JOIN hero_powers b " +
			"ON a.hero_id = b.hero_id WHERE a.power = 'flight' AND b.power = 'speed'",
			told: "a is hero_powers, which has no column power. powers has it:"},
		{why: "a CTE may have it", sql: "WITH x AS (SELECT hero_id, 1 AS power FROM hero_powers) SELECT p.power " +
			"FROM hero_powers p JOIN x ON x.hero_id = p.hero_id", told: "p is hero_powers, which has no column power."},
		{why: "the joined table has a name of the outer SELECT", sql: "SELECT hero FROM heroes WHERE EXISTS " +
			"(SELECT 1 FROM hero_powers p WHERE p.power = 'flight' AND p.hero_id = id)",
			told: "p is hero_powers, which has no column power. powers has it:"},
		{why: "heroes without a side", sql: "SELECT h.hero FROM heroes h WHERE h.side IS NULL",
			told: "h is heroes, which has no column side. sides has it:"},
		{why: "an alias of another SELECT", sql: "SELECT h.id FROM sides s WHERE EXISTS (SELECT 1 FROM heroes h " +
			"JOIN sides s ON h.side_id = s.id)", told: "Existing names that are close:"},
		{why: "one of two values", sql: "SELECT p.hero_id FROM hero_powers p JOIN powers w ON w.id = p.power_id " +
			"WHERE p.power = 'flight' OR p.power = 'speed'",
			want: "SELECT p.hero_id FROM hero_powers p JOIN powers w ON w.id = p.power_id WHERE w.power = 'flight' " +
				"OR w.power = 'speed'"},
		{why: "the name of a table in a condition of the join", sql: "SELECT T1.hero FROM heroes AS T1 " +
			"JOIN hero_powers AS T2 ON heroes.id = T2.hero_id",
			want: "SELECT T1.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id"},
		{why: "a name that is a word of a clause", sql: "SELECT 1 FROM hero_powers \"offset\" JOIN heroes h " +
			"ON 1=offset.power", told: "powers has it"},
		{why: "a function that is not there", sql: "SELECT HERO(hero) FROM heroes", told: "no such function: HERO"},
		{why: "in a subquery", sql: "SELECT hero FROM heroes WHERE id IN (SELECT p.hero_id FROM hero_powers p " +
			"WHERE p.power = 'flight')",
			want: "SELECT hero FROM heroes WHERE id IN (SELECT p.hero_id FROM hero_powers p JOIN powers " +
				"ON p.power_id = powers.id WHERE powers.power = 'flight')"},
		{why: "two columns, one after the other", sql: "SELECT T1.side, T2.power FROM heroes AS T1 JOIN hero_powers AS T2 " +
			"ON T1.id = T2.hero_id",
			want: "SELECT sides.side, powers.power FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id " +
				"JOIN sides ON T1.side_id = sides.id JOIN powers ON T2.power_id = powers.id"},
		{why: "two keys lead to it", sql: "SELECT h.colour FROM heroes h",
			told: "h is heroes, which has no column colour. colours has it: add JOIN colours ON h.left_eye = colours.id, " +
				"and write colours.colour."},
		{why: "two tables have it", sql: "SELECT T3.hero FROM heroes a, heroes b, sides T3",
			told: "The statement has it as a.hero or b.hero."},
		{why: "the condition of a join", sql: "SELECT a.hero FROM heroes a JOIN sides b ON a.side_id = b.side_id",
			told: "b is sides, which has no column side_id. The statement has it as a.side_id."},
		{why: "over a table between", sql: "SELECT h.power FROM heroes h",
			told: "powers has it: add JOIN hero_powers ON h.id = hero_powers.hero_id JOIN powers " +
				"ON hero_powers.power_id = powers.id, and write powers.power."},
		{why: "without a qualifier", sql: "SELECT power FROM hero_powers",
			told: "No table of the statement has a column power. powers has it: add JOIN powers " +
				"ON hero_powers.power_id = powers.id, and write powers.power."},
		{why: "nobody has it", sql: "SELECT h.heroo FROM heroes h", told: "Existing names that are close: heroes.hero"},
		{why: "a derived table", sql: "SELECT d.hero FROM (SELECT id FROM heroes) d, heroes h",
			told: "Existing names that are close: "},
		{why: "two tables have it, and a join compares them", sql: "SELECT power_id, mark FROM hero_powers p " +
			"JOIN marks m ON p.power_id = m.power_id WHERE power_id > 0 ORDER BY power_id",
			want: "SELECT p.power_id, mark FROM hero_powers p JOIN marks m ON p.power_id = m.power_id WHERE p.power_id > 0 " +
				"ORDER BY p.power_id"},
		{why: "a LEFT JOIN leaves one of them empty: powers without a mark", sql: "SELECT hero_id FROM hero_powers " +
			"LEFT JOIN marks ON marks.power_id = hero_powers.power_id WHERE power_id IS NULL",
			told: "The column power_id needs its table. The statement has it as hero_powers.power_id or marks.power_id."},
		{why: "NATURAL compares more", sql: "SELECT power_id FROM hero_powers h " +
			"JOIN marks m ON h.power_id = m.power_id NATURAL JOIN sides", told: "The column power_id needs its table."},
		{why: "ORDER BY means the alias", sql: "SELECT count(power_id) AS power_id FROM hero_powers p " +
			"JOIN marks m ON p.power_id = m.power_id GROUP BY m.mark ORDER BY power_id",
			told: "The column power_id needs its table."},
		{why: "RIGHT JOIN keeps the other table", sql: "SELECT power_id FROM hero_powers p RIGHT JOIN marks m " +
			"ON p.power_id = m.power_id",
			told: "The column power_id needs its table. The statement has it as p.power_id or m.power_id."},
		{why: "nothing compares them", sql: "SELECT id, side FROM heroes h JOIN sides s ON h.side_id = s.id",
			told: "The column id needs its table. The statement has it as h.id or s.id."},
		{why: "one of three is not compared", sql: "SELECT power_id FROM hero_powers a " +
			"JOIN marks b ON a.power_id = b.power_id, marks c",
			told: "The statement has it as a.power_id or b.power_id or c.power_id."},
		{why: "each SELECT has its own tables", sql: "SELECT id FROM heroes h JOIN sides s ON h.id = s.id " +
			"WHERE h.id IN (SELECT power_id FROM marks)",
			told: "The statement has it as h.id or s.id."},
		{why: "a text of the same form", sql: "SELECT T2.hero, 'T2.hero' FROM heroes T1 JOIN hero_powers T2 " +
			"ON T1.id = T2.hero_id -- T2.hero",
			want: "SELECT T1.hero, 'T2.hero' FROM heroes T1 JOIN hero_powers T2 ON T1.id = T2.hero_id"},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Replies: llmtest.Texts(strategy.CodeBlock(tt.sql))}, repairs("SELECT 'asked'"),
		}}
		env := envOf(t, heroes, model)
		pipeline := strategy.Pipeline{Refine: &strategy.Refine{Executions: 2}}
		out := testutil.Value(pipeline.Generate(t.Context(), env, strategy.Task{Question: "Which heroes are there?"}))(t,
			tt.why)
		all := model.Requests()
		if tt.want != "" {
			if out.SQL != tt.want || len(all) != 1 {
				t.Errorf("%s: %d calls\n%s, want\n%s", tt.why, len(all), out.SQL, tt.want)
			}
			continue
		}
		if prompt := strategytest.Written(all[len(all)-1].Messages); out.SQL != "SELECT 'asked'" ||
			!strings.Contains(prompt, tt.told) {
			t.Errorf("%s: %s, told\n%s", tt.why, out.SQL, prompt[strings.LastIndex(prompt, "###"):])
		}
	}
}

// TestLastStatementIsMended: the last statement that the model may write is changed, too, and the only one without a
// call of a repair.
func TestLastStatementIsMended(t *testing.T) {
	const (
		misplaced = "SELECT T2.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id"
		mended    = "SELECT T1.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id"
	)
	for _, tt := range []struct {
		why, first string
		executions int
		want       string
		calls      int
	}{
		{"no call is left", misplaced, 1, mended, 1},
		{"the model repairs one fault and makes another", "SELECT nobody FROM heroes", 2, mended, 2},
		{"nothing to change, and no call is left", "SELECT nobody FROM heroes", 1, "", 1},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Replies: llmtest.Texts(strategy.CodeBlock(tt.first))}, repairs(misplaced),
		}}
		env := envOf(t, heroes, model)
		pipeline := strategy.Pipeline{Refine: &strategy.Refine{Executions: tt.executions}}
		out, err := pipeline.Generate(t.Context(), env, strategy.Task{Question: "Which heroes are there?"})
		got := ""
		if err == nil {
			got = out.SQL
		}
		if got != tt.want || len(model.Requests()) != tt.calls {
			t.Errorf("%s: %q by %d calls, want %q by %d: %v", tt.why, got, len(model.Requests()), tt.want, tt.calls, err)
		}
	}
}

// FuzzMisplacedColumns: whatever the model writes and the database says of it, a mended statement keeps the rest of its
// text.
func FuzzMisplacedColumns(f *testing.F) {
	for _, seed := range [][2]string{
		{"SELECT T2.hero FROM heroes AS T1 JOIN hero_powers AS T2 ON T1.id = T2.hero_id", "T2.hero"},
		{"SELECT p.power FROM hero_powers p;", "p.power"},
		{"SELECT 1 FROM heroes WHERE id IN (SELECT p.hero_id FROM hero_powers p WHERE p.power = '\"') -- p.power", "p.power"},
		{"p.power)FROM hero_powers p", "p.power"}, {"SELECT \"p\".\"power\" FROM (hero_powers p", "p.power"}, {"", "."},
		{"FROM", "a.b.c"},
		{"SELECT p.power FROM hero_powers p WHERE p.power = ';", "p.power"}, {"SELECT p.power FROM hero_powers p -- last",
			"p.power"},
		{"SELECT p.power FROM hero_powers p; -- last\n;", "p.power"},
		{"SELECT power_id FROM marks m JOIN hero_powers p ON m.power_id=p.power_id -- power_id", "power_id"},
	} {
		f.Add(seed[0], seed[1])
	}
	env := envOf(f, heroes, nil)
	f.Fuzz(func(t *testing.T, sql, name string) {
		strategy.Hint(env, sql, name)
		got := strategy.Mend(env, sql, name)
		if got == "" {
			return
		}
		qualifier, _, _ := strings.Cut(name, ".")
		words := func(text string) (list []string) {
			for t := range env.DB.Language().Text.Parse(text).Tokens() {
				plain := strings.Trim(t.Text, "\"`[]")
				if t.Kind != sqltext.Space && t.Kind != sqltext.Comment && t.Text != ";" && !strings.EqualFold(plain, qualifier) {
					list = append(list, t.Text)
				}
			}
			return list
		}
		left := words(sql)
		added := strings.Count(got, " JOIN ") - strings.Count(sql, " JOIN ")
		for _, word := range words(got) {
			if word == "JOIN" {
				added--
			}
			if len(left) > 0 && left[0] == word {
				left = left[1:]
			}
		}
		if len(left) > 0 && strings.Count(name, ".") == 1 {
			t.Errorf("%q, %q became %q: it lacks %q", sql, name, got, left)
		}
		for _, word := range words(sql) {
			if word == "JOIN" {
				added++
			}
		}
		if added != 0 {
			t.Errorf("%q, %q became %q: a join is in a comment", sql, name, got)
		}
	})
}
