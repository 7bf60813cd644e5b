// Package strategytest is what the tests of the strategies share: small databases
// as a strategy.Env, statements about them, and scripted replies.
package strategytest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3" // the driver of the test databases

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// ShopSQL makes the database of ShopEnv.
const ShopSQL = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL);
INSERT INTO customers VALUES (1,'Ada','USA'),(2,'Bo','Norway'),(3,'Cyd','USA');
INSERT INTO orders VALUES (1,1,10.5),(2,2,20),(3,1,NULL);`

// MarketSQL makes the database of MarketEnv.
const MarketSQL = ShopSQL + `
CREATE TABLE notes (text TEXT);
CREATE TABLE "order details" ("order id" INTEGER, qty INTEGER);
CREATE TABLE "order" (id INTEGER PRIMARY KEY);
CREATE VIEW americans AS SELECT * FROM customers WHERE country = 'USA';`

// Statements about the shop.
const (
	USA      = "SELECT name FROM customers WHERE country = 'USA'"
	USAJoin  = "SELECT c.name FROM customers AS c WHERE c.country IN ('USA')" // another spelling of USA
	Everyone = "SELECT name FROM customers"
	Broken   = "SELECT name FROM custmers WHERE country = 'USA'"    // a name with a typing error
	AllNull  = "SELECT total FROM orders WHERE id = 3"              // one row, NULL
	Chile    = "SELECT name FROM customers WHERE country = 'Chile'" // no row, and no stored country
)

// Replies to the phases of maker.Strategy, and a statement that reads both tables.
const (
	ScopeOne  = "Tables: customers"
	ScopeBoth = "Tables: customers, orders\nJoins: orders.customer_id = customers.id"
	InUSA     = "customers.country = 'USA'"
	Ordered   = "SELECT DISTINCT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.id " +
		"WHERE c.country = 'USA'"
)

// USATask is a question that USA answers.
var USATask = strategy.Task{Question: "Which customers live in the USA?", Evidence: "USA is written in capitals"}

// ShopEnv is an Env over two tables, customers and orders.
func ShopEnv(tb testing.TB, model llm.Model) *strategy.Env {
	tb.Helper()
	return EnvOf(tb, ShopSQL, model)
}

// MarketEnv is an Env over the shop with three tables and a view more.
func MarketEnv(tb testing.TB, model llm.Model) *strategy.Env {
	tb.Helper()
	return EnvOf(tb, MarketSQL, model)
}

// ExampleModel answers sample i with replies[i]; what has no reply fails, as with a model
// that is out of service.
func ExampleModel(replies ...string) llm.Model {
	return &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "generate", Replies: llmtest.Texts(replies...)}}}
}

// ExampleEnv is ShopEnv for examples, which have no test: the shop in memory.
func ExampleEnv(model llm.Model) *strategy.Env {
	_, env := ExampleShop(model)
	return env
}

// ExampleShop is ExampleEnv with the pool, to change the data behind it.
func ExampleShop(model llm.Model) (*sql.DB, *strategy.Env) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	pool.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := pool.Exec(ShopSQL); err != nil {
		panic(err)
	}
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		panic(err)
	}
	s, err := db.Snapshot(context.Background())
	if err != nil {
		panic(err)
	}
	return pool, &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s.Schema, Snapshot: s}
}

// EnvOf is an Env over the database that script makes.
func EnvOf(tb testing.TB, script string, model llm.Model) *strategy.Env {
	tb.Helper()
	return EnvAt(tb, PoolOf(tb, script), model)
}

// EnvAt is an Env over an open database, with its Snapshot.
func EnvAt(tb testing.TB, pool *sql.DB, model llm.Model) *strategy.Env {
	tb.Helper()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := db.Snapshot(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s.Schema, Snapshot: s}
}

// PoolOf opens a database file of its own, made by script.
func PoolOf(tb testing.TB, script string) *sql.DB {
	tb.Helper()
	pool, err := sql.Open("sqlite3", "file:"+filepath.Join(tb.TempDir(), "test.sqlite"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { pool.Close() })
	if _, err := pool.Exec(script); err != nil {
		tb.Fatal(err)
	}
	return pool
}

// Asking is env with another model.
func Asking(env *strategy.Env, model llm.Model) *strategy.Env {
	other := *env
	other.Models = []llm.Model{model}
	return &other
}

// Profiled is the schema of env with profiles.
func Profiled(tb testing.TB, env *strategy.Env) *schema.Schema {
	tb.Helper()
	s, err := env.DB.Profile(tb.Context(), env.Schema, exec.ProfileOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Fresh is env with nothing kept.
func Fresh(env *strategy.Env) *strategy.Env {
	fresh := *env
	fresh.Snapshot = new(snapshot.Store).At(env.Snapshot.Key, env.Snapshot.Schema)
	return &fresh
}

// Always gives every request of a purpose the same reply.
func Always(purpose, reply string) llmtest.Rule { return Samples(purpose, reply) }

// Samples gives the requests of a purpose their replies by index; the last reply
// answers all beyond.
func Samples(purpose string, replies ...string) llmtest.Rule {
	return llmtest.Rule{Purpose: purpose, Replies: llmtest.Texts(replies...), Repeat: true}
}

// Phases is a script in which all samples of each phase of maker.Strategy agree.
func Phases(scope, filter, projection string) []llmtest.Rule {
	return []llmtest.Rule{
		Always("maker.scope", scope), Always("maker.filter", filter), Always("maker.projection", projection),
	}
}

// HeroesSQL makes ten tables in which two columns lead to one table, and some lead nowhere.
const HeroesSQL = `
CREATE TABLE alignment (id INTEGER PRIMARY KEY, alignment TEXT);
CREATE TABLE attribute (id INTEGER PRIMARY KEY, attribute_name TEXT);
CREATE TABLE colour (id INTEGER PRIMARY KEY, colour TEXT);
CREATE TABLE gender (id INTEGER PRIMARY KEY, gender TEXT);
CREATE TABLE publisher (id INTEGER PRIMARY KEY, publisher_name TEXT);
CREATE TABLE race (id INTEGER PRIMARY KEY, race TEXT);
CREATE TABLE superhero (id INTEGER PRIMARY KEY, superhero_name TEXT, gender_id INTEGER REFERENCES gender (id),
	eye_colour_id INTEGER REFERENCES colour (id), hair_colour_id INTEGER REFERENCES colour (id), race_id INTEGER REFERENCES race (id),
	publisher_id INTEGER REFERENCES publisher (id), alignment_id INTEGER REFERENCES alignment (id), height_cm INTEGER);
CREATE TABLE hero_attribute (hero_id INTEGER REFERENCES superhero (id), attribute_id INTEGER REFERENCES attribute (id), attribute_value INTEGER);
CREATE TABLE superpower (id INTEGER PRIMARY KEY, power_name TEXT);
CREATE TABLE hero_power (hero_id INTEGER REFERENCES superhero (id), power_id INTEGER REFERENCES superpower (id));
INSERT INTO colour VALUES (1, 'Green'), (2, 'Black'); INSERT INTO publisher VALUES (1, 'Two Brothers'), (2, 'Kiosk');
INSERT INTO race VALUES (1, 'Human'), (2, 'Owl'); INSERT INTO gender VALUES (1, 'Female'), (2, 'Male'); INSERT INTO alignment VALUES (1, 'Good');
INSERT INTO superhero VALUES (1, 'Night Owl', 1, 1, 2, 2, 1, 1, 170), (2, 'The Printer', 2, 2, 2, 1, 2, 1, 181);
INSERT INTO superpower VALUES (1, 'Flight'); INSERT INTO hero_power VALUES (1, 1); INSERT INTO attribute VALUES (1, 'Speed');
INSERT INTO hero_attribute VALUES (1, 1, 80)`

// Heroes is an Env over HeroesSQL, without a model.
func Heroes(tb testing.TB) *strategy.Env {
	env := EnvOf(tb, HeroesSQL, nil)
	env.Models = nil
	return env
}

// Written is a conversation as goldens show it.
func Written(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "=== %s\n%s\n", m.Role, strings.TrimSuffix(m.Text, "\n"))
	}
	return b.String()
}

// CheckPrompts holds the prompts of a strategy, for one question about superheroes, to the golden file of that name.
func CheckPrompts(t *testing.T, s strategy.Strategy, file string) {
	t.Helper()
	const sql = "SELECT count(*) FROM superhero AS s JOIN publisher AS p ON s.publisher_id = p.id " +
		"WHERE p.publisher_name = 'Kiosk'"
	script := &llmtest.Script{
		Rules: append(Phases("Tables: superhero, publisher\nJoins: superhero.publisher_id = publisher.id",
			"publisher.publisher_name = 'Kiosk'", sql), Always("generate", sql))}
	out, err := s.Generate(t.Context(), Asking(Heroes(t), script), strategy.Task{
		Question: "How many superheroes did Kiosk publish?",
		Evidence: "published by Kiosk refers to publisher_name = 'Kiosk'",
	})
	if err != nil || out.SQL != sql {
		t.Fatal(out, err)
	}
	var b strings.Builder
	for _, req := range script.Requests() {
		b.WriteString("=== " + req.Purpose + "\n")
		for _, m := range req.Messages {
			b.WriteString("--- " + m.Role + "\n" + m.Text + "\n")
		}
	}
	golden.Check(t, file, b.String())
}

// SameWhateverTheLatency answers one question thirty times, with replies that come in any order: outcome, report, error
// and trace are the same. models makes the models of one time; workers are values of Env.Concurrency, none: that of
// env.
func SameWhateverTheLatency(t *testing.T, s strategy.Strategy, env *strategy.Env, task strategy.Task,
	models func() []llm.Model, workers ...int) {
	t.Helper()
	first := ""
	for seed := range 30 {
		env := *env
		if len(workers) > 0 {
			env.Concurrency = workers[seed%len(workers)]
		}
		synctest.Test(t, func(t *testing.T) {
			random, lock := rand.New(rand.NewPCG(uint64(seed), 1)), sync.Mutex{}
			late := func(next llm.Model) llm.Model {
				return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
					lock.Lock()
					d := time.Duration(200+random.IntN(200)) * time.Millisecond // none is so late that it is left out
					lock.Unlock()
					time.Sleep(d)
					return next.Complete(ctx, req)
				})
			}
			env.Models = nil
			for _, m := range models() {
				env.Models = append(env.Models, llm.Chain(m, llm.Trace(), late))
			}
			root := trace.Tracer{Keep: trace.PrivateSQL}.New("question")
			out, err := s.Generate(trace.NewContext(t.Context(), root), &env, task)
			root.End()
			spans, terr := root.Comparable()
			written, werr := json.Marshal([]any{out, out.Report, fmt.Sprint(err)})
			if err := errors.Join(terr, werr); err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(string(written)+"\n"+string(spans), `,"`, ",\n\"")
			if first == "" {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("time %d (-first +now):\n%s", seed, diff)
			}
		})
	}
}
