package engines_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// Statements about strategytest.SchoolSQL.
const (
	ofOld = "SELECT p.name FROM pupils_old AS p JOIN marks AS m ON m.pupil_id = p.pupil_id WHERE m.mark = 4"
	using = "SELECT pupils.name FROM pupils JOIN marks USING (pupil_id) WHERE marks.mark = 4"
)

// presets are all of them, each in every form that has prompts of its own.
var presets = map[string]strategy.Strategy{
	"Direct": strategy.Direct{}, "SelfConsistency": strategy.SelfConsistency{Samples: 4},
	"Consensus": strategy.Consensus{Samples: 4},
	"planvote":  planvote.Plain{Samples: 4}, "planvote published": planvote.Plain{Samples: 4}.Published(),
	"augmented":           planvote.Augmented{Samples: 4, Probe: true},
	"augmented published": planvote.Augmented{Samples: 4}.Published(),
	"feedback":            planvote.Feedback{Samples: 2}, "feedback published": planvote.Feedback{Samples: 2}.Published(),
	"cheapest": planvote.Plain{Samples: 4, Cheapest: true},
	"MAKER":    maker.Strategy{Samples: 4, FallbackCalls: 3}, "MAKER published": maker.Strategy{Samples: 4,
		FallbackCalls: 3}.Published(),
	"PETSQL": petsql.Strategy{}, "PETSQL published": petsql.Strategy{}.Published(),
	"QASQL": qasql.Strategy{}, "QASQL judge first": qasql.Strategy{JudgeFirst: true},
	"Staged": agent.Staged{}, "Staged 3": agent.Staged{Stage: 3}, "ReAct": agent.ReAct{},
	"ReAct published": agent.ReAct{}.Published(),
	"threephase":      threephase.Strategy{},
}

// remote is an engine on a server, and how SQL for it differs.
type remote struct {
	dialect exec.Dialect
	server  *servers.Lazy
	driver  string
	dsn     func(port int, database string) string
	title   string // as prompts name it
}

// remotes are the engines that run as servers of their own. A server ends with the process that started it.
var remotes = map[string]remote{
	"mariadb": {
		mysql.Dialect{MariaDB: true}, &servers.Lazy{Start: servers.MariaDB}, "mysql",
		func(port int, database string) string {
			return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s?multiStatements=true", port, database)
		}, "MariaDB",
	},
	"postgres": {
		postgres.Dialect{}, &servers.Lazy{Start: servers.Postgres}, "pgx",
		func(port int, database string) string {
			return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", port, database)
		}, "PostgreSQL",
	},
}

var remoteDatabases atomic.Int64

// open makes a database of script.
func (r remote) open(t *testing.T, script string) *sql.DB {
	t.Helper()
	port := r.server.Get(t).Port
	connect := func(database string) *sql.DB {
		pool := testutil.Value(sql.Open(r.driver, r.dsn(port, database)))(t)
		return pool
	}
	name := fmt.Sprint("school", remoteDatabases.Add(1))
	admin := connect(map[string]string{"pgx": "postgres"}[r.driver])
	defer admin.Close()
	testutil.Value(admin.Exec("CREATE DATABASE " + name))(t)
	pool := connect(name)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	return pool
}

// onServers runs a test on each engine.
func onServers(t *testing.T, test func(t *testing.T, r remote)) {
	for _, name := range slices.Sorted(maps.Keys(remotes)) {
		t.Run(name, func(t *testing.T) { test(t, remotes[name]) })
	}
}

// school is strategytest.SchoolSQL with a table and a column that need quotes.
func (r remote) school() string {
	return strategytest.SchoolSQL + strings.NewReplacer("[", r.dialect.Language().Quote("Class Trips"), "]",
		r.dialect.Language().Quote("order")).Replace(`
		CREATE TABLE [ (trip_id INTEGER PRIMARY KEY, ] INTEGER, goal VARCHAR(20));
		INSERT INTO [ VALUES (1, 3, 'Zoo'), (2, 1, 'Sea');`)
}

// trips asks for what needs quotes, as the engine has them.
func (r remote) trips() string {
	return "SELECT goal FROM " + r.dialect.Language().Quote("Class Trips") + " AS t WHERE t." +
		r.dialect.Language().Quote("order") + " > 2"
}

// TestPresetsOnServers: every preset answers on every engine. Its prompts name the engine and quote its way.
func TestPresetsOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, r remote) {
		pool := r.open(t, r.school())
		for _, name := range slices.Sorted(maps.Keys(presets)) {
			model := &strategytest.Pupil{Statements: []string{r.trips()}, Scopes: []string{"Tables: Class Trips\nJoins: none"}}
			e := testutil.Value(texttosql.New(pool, model, texttosql.WithDialect(r.dialect),
				texttosql.WithStrategy(presets[name])))(t)
			res, err := e.Ask(t.Context(), "Where do trips with an order over 2 go?")
			if err != nil || res.Rows == nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if diff := cmp.Diff([][]any{{"Zoo"}}, res.Rows.Rows); diff != "" {
				t.Errorf("%s: %s\n%s", name, res.SQL, diff)
			}
			var said strings.Builder
			for _, req := range model.Requests {
				said.WriteString(strategytest.Written(req.Messages) + "\n")
			}
			for _, word := range []string{"SQLite", "sqlite"} {
				if strings.Contains(said.String(), word) {
					at := strings.Index(said.String(), word)
					t.Errorf("%s: a prompt speaks of SQLite: …%s…", name, said.String()[max(0, at-80):min(said.Len(), at+80)])
				}
			}
			// The published prompts are as their authors wrote them, which is without the name of the engine.
			if !strings.Contains(strings.ToLower(said.String()), strings.ToLower(r.title)) &&
				!strings.HasSuffix(name, " published") {
				t.Errorf("%s: no prompt names %s:\n%s", name, r.title, said.String()[:min(said.Len(), 800)])
			}
			if quoted := r.dialect.Language().Quote("Class Trips"); !strings.Contains(said.String(), quoted) {
				t.Errorf("%s: no prompt has %s", name, quoted)
			}
		}
	})
}

// TestRepairOnServers: what the engine says of a wrong statement, and what is known beside it, reaches the model.
// A name that is nearly one of the schema is replaced without a call.
func TestRepairOnServers(t *testing.T) {
	const right = "SELECT name FROM pupils WHERE room = 7"
	onServers(t, func(t *testing.T, r remote) {
		pool := r.open(t, r.school())
		for _, c := range []struct {
			wrong string
			calls int
			want  string // in the last prompt
			why   string
		}{
			{"SELECT nmae FROM pupils", 2, "name", "a column that is not there"},
			{"SELECT name FROM learners", 2, "pupils", "a table that is not there"},
			{"SELECT name FROM pupil WHERE room = 7", 1, "", "a table whose name is nearly there"},
			{"SELECT T2.name FROM pupils AS T1 JOIN marks AS T2 ON T1.pupil_id = T2.pupil_id WHERE T1.room = 7", 1, "",
				"a column of the other table, whose alias has a capital"},
			{"SELECT name FROM pupils WHERE", 2, "", "syntax"},
			{"SELECT name FROM pupils GROUP BY room HAVING COUNT(*) > (SELECT 1, 2)", 2, "", "makes no sense"},
		} {
			model := &strategytest.Pupil{Statements: []string{c.wrong, right}}
			e := testutil.Value(texttosql.New(pool, model, texttosql.WithDialect(r.dialect), texttosql.WithStrategy(
				strategy.Pipeline{Refine: &strategy.Refine{Decisive: true}})))(t)
			res, err := e.Ask(t.Context(), "Who is in room 7?")
			if err != nil || fmt.Sprint(res.Rows.Rows) != "[[Ada]]" {
				t.Errorf("%s (%s): %v, %v", c.wrong, c.why, res, err)
				continue
			}
			if last := strategytest.Written(model.Requests[len(model.Requests)-1].Messages); !strings.Contains(last, c.want) ||
				len(model.Requests) != c.calls {
				t.Errorf("%s (%s): %d calls; the repair does not say %q:\n%s", c.wrong, c.why, len(model.Requests), c.want, last)
			}
		}
	})
}

// TestChecksOnServers: what is doubtful about a statement that runs.
func TestChecksOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, r remote) {
		db := testutil.Value(exec.New(r.open(t, r.school()), r.dialect, exec.Config{}))(t)
		for _, c := range []struct{ sql, engine, want, why string }{
			{"SELECT name FROM pupils WHERE name = 'Zoe'", "", checks.Absent, "no pupil has the name"},
			{"SELECT name FROM pupils WHERE name = 'Ada'", "", "", ""},
			{`SELECT "name" FROM pupils`, "mysql", checks.String, "the word name in each row"},
			{`SELECT "name" FROM pupils`, "postgres", "", "a column"},
			{`SELECT name FROM pupils WHERE name = "Ada"`, "mysql", "", "a string"},
			{"SELECT 1", "", checks.NoTable, ""},
		} {
			if c.engine != "" && c.engine != r.dialect.Language().Name {
				continue
			}
			checked, err := db.Examine(t.Context(), c.sql)
			var rules []string
			for _, f := range checked.Findings {
				rules = append(rules, f.Rule)
			}
			if err != nil || (c.want == "") != (len(rules) == 0) || c.want != "" && !slices.Contains(rules, c.want) {
				t.Errorf("%s: %q, %v, want %q (%s)", c.sql, rules, err, c.want, c.why)
			}
		}
	})
}

// TestSessionsOnServers: a question, a correction, a follow-up; and a batch.
func TestSessionsOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, r remote) {
		pool := r.open(t, r.school())
		model := &strategytest.Pupil{Statements: []string{ofOld, using}}
		e := testutil.Value(texttosql.New(pool, model, texttosql.WithDialect(r.dialect),
			texttosql.WithStrategy(strategy.SelfConsistency{Samples: 1})))(t)
		talk := e.NewConversation(&session.MemoryStore{})
		first, err := talk.Ask(t.Context(), "Who has a 4?")
		if err != nil || fmt.Sprint(first.Rows.Rows) != "[[Zed]]" {
			t.Fatalf("%v, %v", first, err)
		}
		second, err := talk.Apply(t.Context(), session.Correction{
			Kind: dialogue.CorrectTable, Tables: []schema.TableName{{Name: "pupils"}},
			Rejected: []schema.TableName{{Name: "pupils_old"}},
		})
		if err != nil || fmt.Sprint(second.Rows.Rows) != "[[Ada]]" {
			t.Fatalf("%v, %v", second, err)
		}
		var answers []string
		questions := []texttosql.Question{{ID: "0", Text: "Who has a 4?"}, {ID: "1", Text: "And who else?"},
			{ID: "2", Text: "Who?"}}
		for r, err := range e.AskAll(t.Context(), slices.Values(questions), 0) {
			answers = append(answers, fmt.Sprint(r.Result.Rows.Rows, err))
		}
		if len(answers) != 3 || answers[2] != "[[Ada]] <nil>" {
			t.Errorf("a batch: %q", answers)
		}
	})
}

// TestAskBelowOnServers: statements that disagree are put to the person who asked.
func TestAskBelowOnServers(t *testing.T) {
	onServers(t, func(t *testing.T, r remote) {
		model := &strategytest.Pupil{Statements: []string{ofOld, using, ofOld, using}}
		e := testutil.Value(texttosql.New(r.open(t, r.school()), model, texttosql.WithDialect(r.dialect),
			texttosql.WithClarifyBelow(0.9), texttosql.WithStrategy(strategy.SelfConsistency{Samples: 4})))(t)
		talk := e.NewConversation(&session.MemoryStore{})
		res, err := talk.Ask(t.Context(), "Who has a 4?")
		var q *session.QuestionError
		if !errors.As(err, &q) || len(q.Options) < 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		i := slices.IndexFunc(q.Options, func(o session.Option) bool { return o.SQL == using })
		if res, err = talk.Choose(t.Context(), q.Options[max(0, i)].ID); err != nil ||
			fmt.Sprint(res.Rows.Rows) != "[[Ada]]" {
			t.Errorf("%+v, %v, after %+v", res, err, q.Options)
		}
	})
}
