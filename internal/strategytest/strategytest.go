// Package strategytest is what the tests of the strategies share: small databases
// as a strategy.Env, statements about them, and scripted replies.
package strategytest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver of the test databases

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
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
	Ordered   = "SELECT DISTINCT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.id WHERE c.country = 'USA'"
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
	return &llmtest.Script{Rules: []llmtest.Rule{{Purpose: strategy.PurposeGenerate, Replies: llmtest.Texts(replies...)}}}
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
	s, err := db.Schema(context.Background())
	if err != nil {
		panic(err)
	}
	return pool, &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s}
}

// EnvOf is an Env over the database that script makes.
func EnvOf(tb testing.TB, script string, model llm.Model) *strategy.Env {
	tb.Helper()
	return EnvAt(tb, PoolOf(tb, script), model)
}

// EnvAt is an Env over an open database, with a SampleCache.
func EnvAt(tb testing.TB, pool *sql.DB, model llm.Model) *strategy.Env {
	tb.Helper()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := db.Schema(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return &strategy.Env{DB: db, Models: []llm.Model{model}, Schema: s, Rows: &exec.SampleCache{}}
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

// ProfileOf profiles the schema of env.
func ProfileOf(env *strategy.Env) func(context.Context) (*schema.Schema, error) {
	return func(ctx context.Context) (*schema.Schema, error) {
		return env.DB.Profile(ctx, env.Schema, exec.ProfileOptions{})
	}
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

// DataEnv is an Env over a database of the evaluation data, read-only, without a model.
func DataEnv(tb testing.TB, path ...string) *strategy.Env {
	tb.Helper()
	env := EnvAt(tb, DataPool(tb, path...), nil)
	env.Models = nil
	return env
}

// DataPool opens a database of the evaluation data, read-only.
func DataPool(tb testing.TB, path ...string) *sql.DB {
	tb.Helper()
	pool, err := sql.Open("sqlite3", "file:"+evaldata.Path(tb, append([]string{"db"}, path...)...)+"?mode=ro&immutable=1")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { pool.Close() })
	return pool
}

// Superhero is an Env over BIRD's database of superheroes.
func Superhero(tb testing.TB) *strategy.Env { return DataEnv(tb, "bird", "superhero.sqlite") }

// Written is a conversation as goldens show it.
func Written(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "=== %s\n%s\n", m.Role, strings.TrimSuffix(m.Text, "\n"))
	}
	return b.String()
}

// schemaText finds the schema in a prompt of ours, or in a published one.
var schemaText = regexp.MustCompile(`(?s)^(### Schema\n)?(.*?)(\n\n(?:###|Question:))`)

// CheckPrompts holds the prompts of a strategy, for one question about superheroes, to
// the golden file of that name. The schema with its rows is test data and not ours to
// copy: its length and hash stand in its place.
func CheckPrompts(t *testing.T, s strategy.Strategy, file string) {
	t.Helper()
	const sql = "SELECT count(*) FROM superhero AS s JOIN publisher AS p ON s.publisher_id = p.id WHERE p.publisher_name = 'Dark Horse Comics'"
	script := &llmtest.Script{Rules: append(Phases("Tables: superhero, publisher\nJoins: superhero.publisher_id = publisher.id",
		"publisher.publisher_name = 'Dark Horse Comics'", sql), Always("generate", sql))}
	out, err := s.Generate(t.Context(), Asking(Superhero(t), script), strategy.Task{
		Question: "How many superheroes did Dark Horse Comics publish?",
		Evidence: "published by Dark Horse Comics refers to publisher_name = 'Dark Horse Comics'",
	})
	if err != nil || out.SQL != sql {
		t.Fatal(out, err)
	}
	var b strings.Builder
	for _, req := range script.Requests() {
		b.WriteString("=== " + req.Purpose + "\n")
		for _, m := range req.Messages {
			text := m.Text
			if at := schemaText.FindStringSubmatchIndex(text); m.Role == llm.User && at != nil {
				shown := text[at[4]:at[5]]
				text = text[:at[4]] + fmt.Sprintf("<schema: %d characters, SHA-256 %x>", len([]rune(shown)), sha256.Sum256([]byte(shown))) + text[at[5]:]
			}
			b.WriteString("--- " + string(m.Role) + "\n" + text + "\n")
		}
	}
	golden.Check(t, file, b.String())
}

// Latencies are the answer times that a real provider had, a tenth of them.
func Latencies(tb testing.TB) []time.Duration {
	var all []time.Duration
	type call struct {
		Latency float64 `json:"latency_s"`
	}
	for c := range evaldata.Lines[call](tb, evaldata.Path(tb, "predictions", "spider_dev_latency_tokens.jsonl.gz")) {
		if c.Latency > 0 {
			all = append(all, time.Duration(c.Latency*float64(time.Second)/10))
		}
	}
	return all
}
