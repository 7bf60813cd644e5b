// Service answers questions over HTTP, each tenant's about a database of its own:
//
//	go run ./examples/service                                     # the tenant "demo": a small shop, scripted replies
//	go run ./examples/service -model openai:gpt-4o-mini -tenants tenants.json
//	curl -N -H 'Authorization: Bearer demo' -d '{"question": "Which customers in the USA never ordered?"}' localhost:8080/ask
//
// The reply is a stream of server-sent events. It has "progress" for each sample and step that ends, then one "answer"
// with the result as JSON, its closing line, and the error if there is one. The file of tenants holds, by token,
// {"db": FILE, "policy": {"DenyTables": […]}}. Tenants of one database share its policy with rules about rows. Each
// tenant has a scope that gives the parameters of the rules: {"db": FILE, "policy": {"Rows": {"orders": "tenant_id =
// :tenant"}}, "scope": {"Key": "acme", "Params": {"tenant": 42}}}. Instead of a file a "db" may be a DSN of
// PostgreSQL, postgres://…. A chi router has the routes.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("service", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME or anthropic:NAME")
	addr := flags.String("addr", "127.0.0.1:8080", "the `address` to listen on")
	file := flags.String("tenants", "", "JSON `file` of tenants by token; default: one, \"demo\"")
	deadline := flags.Duration("deadline", time.Minute, "the longest that a question may take")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	model, tenants := shop.Listed().Model(),
		map[string]tenant{"demo": {Policy: json.RawMessage(`{"DenyColumns": ["customers.joined"]}`)}}
	if *spec != "" {
		m, err := shop.Model(*spec, getenv)
		if err != nil {
			return err
		}
		model = llm.Chain(m, llm.Limit{Concurrency: 16}.Middleware()) // of all tenants together
	}
	if *file != "" {
		f, err := os.Open(*file)
		if err != nil {
			return err
		}
		defer f.Close()
		known := json.NewDecoder(f)
		known.DisallowUnknownFields() // a misspelt policy would deny nothing
		tenants = nil
		err = known.Decode(&tenants)
		if _, end := known.Token(); err != nil || end != io.EOF || len(tenants) == 0 {
			return fmt.Errorf(`%s: want {"TOKEN": {"db": FILE, "policy": {…}}}`, *file)
		}
	}
	s, closeAll, err := open(ctx, model, tenants, *deadline)
	defer closeAll()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on http://%s/ask\n", listener.Addr())
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	context.AfterFunc(ctx, func() { server.Close() }) // the questions end with their context
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil // it was told to stop
}

// routes returns the routes of the service.
func (s service) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer)
	r.Post("/ask", s.ask)
	return r
}

type tenant struct {
	DB     string          `json:"db"`     // a SQLite file, or postgres://… for a pool of pgx; "": the shop
	Policy json.RawMessage `json:"policy"` // as exec.ReadPolicy reads it; none: everything may be read
	Scope  *struct {
		Key    string
		Params map[string]any
	} `json:"scope"` // whose rows are read, where the policy has rules about rows
}

type service struct {
	engines  map[string]*texttosql.Engine // by token; those of one database and policy share an engine
	deadline time.Duration
}

// open makes the engines. The caller calls closeAll, also after an error.
func open(ctx context.Context, model llm.Model, tenants map[string]tenant, deadline time.Duration) (s service,
	closeAll func(), err error) {
	s = service{engines: map[string]*texttosql.Engine{}, deadline: deadline}
	closeAll = func() {}
	shared := map[string]*texttosql.Engine{}
	for token, t := range tenants {
		var policy exec.Policy
		if t.Policy != nil {
			if policy, err = exec.ReadPolicy(bytes.NewReader(t.Policy)); err != nil {
				return s, closeAll, fmt.Errorf("database %q: %w", t.place(), err)
			}
		}
		if engine := shared[t.DB+" "+string(t.Policy)]; engine != nil {
			if s.engines[token], err = t.within(engine); err != nil {
				return s, closeAll, err
			}
			continue
		}
		db, dialect, closeDB, err := t.pool(ctx)
		if err != nil {
			return s, closeAll, err
		}
		others := closeAll
		closeAll = func() { closeDB(); others() }
		engine, err := texttosql.New(db, model, dialect, texttosql.WithPolicy(policy),
			texttosql.WithBudget(llm.Budget{Calls: 20, Tokens: 200_000}),
			texttosql.WithLimits(exec.Limits{Answer: exec.Bounds{Rows: 500}}))
		if err == nil {
			err = engine.Ready(ctx)
		}
		if err == nil {
			shared[t.DB+" "+string(t.Policy)] = engine
			s.engines[token], err = t.within(engine)
		}
		if err != nil {
			return s, closeAll, fmt.Errorf("database %q: %w", t.place(), err)
		}
	}
	return s, closeAll, nil
}

// within is the engine as the tenant sees it. With rules about rows and without a scope every question is refused, so
// that is an error here.
func (t tenant) within(engine *texttosql.Engine) (*texttosql.Engine, error) {
	if t.Scope == nil {
		return engine.For()
	}
	// numbers of JSON are floats; those over 2^53 need more care
	scope := exec.Scope{Key: t.Scope.Key, Params: t.Scope.Params}
	return engine.For(texttosql.WithScope(scope))
}

// pool opens the database of a tenant. An engine runs on the connections of a pgxpool.Pool, which the rest of a service
// may use.
func (t tenant) pool(ctx context.Context) (*sql.DB, texttosql.Option, func(), error) {
	if !strings.HasPrefix(t.DB, "postgres://") {
		db, closeDB, err := shop.Open(t.DB)
		return db, nil, closeDB, err
	}
	pool, err := pgxpool.New(ctx, t.DB)
	if err != nil {
		return nil, nil, nil, err // which has no password
	}
	db := stdlib.OpenDBFromPool(pool)
	return db, texttosql.WithDialect(postgres.Dialect{}), func() { db.Close(); pool.Close() }, nil
}

// place is the database of a tenant as an error may have it: without a password.
func (t tenant) place() string {
	if u, err := url.Parse(t.DB); err == nil && u.Host != "" {
		return u.Host + u.Path
	}
	return t.DB
}

func (s service) ask(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	engine, ok := s.engines[token]
	if !ok {
		http.Error(w, "unknown token", http.StatusUnauthorized)
		return
	}
	var q struct{ ID, Question, Evidence string }
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil || json.Unmarshal(body, &q) != nil || strings.TrimSpace(q.Question) == "" {
		http.Error(w, `want {"question": "…"}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	ctx, cancel := context.WithTimeout(r.Context(), s.deadline)
	defer cancel()
	out := http.NewResponseController(w)
	send := func(event string, v any) {
		text, merr := json.Marshal(v)
		out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // for a client that does not read
		_, werr := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text)
		if errors.Join(merr, werr, out.Flush()) != nil {
			cancel() // nobody listens
		}
	}
	tell := texttosql.WithProgress(func(p texttosql.Progress) {
		if p.Kind == "ended" && p.Span.Parent() == p.Span.Root() { // the steps of the question, not their parts
			send("progress", map[string]any{"id": q.ID, "step": p.Step, "failure": p.Message,
				"took_ms": p.Span.Duration().Milliseconds()})
		}
	})
	res, err := engine.AskQuestion(ctx, texttosql.Question{ID: q.ID, Text: q.Question, Evidence: q.Evidence}, tell)
	answer := map[string]any{"id": q.ID} // an error has its result beside it: the best answer so far, and the cost
	if err != nil {
		f := failure.Of(err)
		answer["error"] = map[string]string{"class": string(f.Class), "message": f.Message, "advice": f.Advice}
	}
	if res != nil {
		text, _ := res.MarshalWithRows() // null if it cannot be written
		answer["result"], answer["closing"] = json.RawMessage(text), res.Closing()
		answer["explanation"] = res.Ballot.Explain()
	}
	send("answer", answer)
}
