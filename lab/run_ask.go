package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/providers"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/lab/models"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/lab/stats"
	"github.com/texttosql/texttosql/lab/training"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// source provides the models of a spec.
type source struct {
	kind  string
	live  llm.Model     // nil for pools
	pools []*pools.Pool // the pools of a recorded or simulated model
	keep  bool          // an assumption of a simulated model; see models.PhaseOptions

	walks   []models.Trajectory // of a recorded model of trajectories
	dataset *eval.Dataset       // that the walks are about
	spec    string

	known []map[string]bool // questions of each pool
}

// newSource reads a spec: pool:NAME[,NAME…], phases:NAME[,NAME…][?keep=scope], replay:DIR, or what providers.Model
// takes. What a live model replies is recorded in the folder tapes; "": in none.
func newSource(folder *pools.Folder, spec, tapes string, getenv func(string) string) (*source, error) {
	provider, rest, _ := strings.Cut(spec, ":")
	if tapes != "" && slices.Contains([]string{"pool", "phases", "traj", "replay"}, provider) {
		return nil, fmt.Errorf("--record is for a live model; %s has its replies", spec)
	}
	if provider == "traj" && folder != nil {
		return trajectories(folder, spec, rest)
	}
	if provider != "pool" && provider != "phases" && provider != "traj" {
		return answerer(spec, tapes, getenv)
	}
	if folder == nil {
		return nil, fmt.Errorf("model %q: what was recorded is in a folder of evaluation data: give --data too", spec)
	}
	s := &source{kind: models.KindRecorded}
	if provider == "phases" {
		s.kind = models.KindSimulated
		rest, s.keep = strings.CutSuffix(rest, "?keep=scope")
	}
	for _, name := range strings.Split(rest, ",") {
		p, err := folder.Pool(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("model %q: %w", spec, err)
		}
		known := make(map[string]bool, len(p.Questions))
		for _, q := range p.Questions {
			known[q.Key()] = true
		}
		s.pools, s.known = append(s.pools, p), append(s.known, known)
	}
	return s, nil
}

// answerer is newSource of a model that answers any prompt, or those of a recording.
func answerer(spec, tapes string, getenv func(string) string) (*source, error) {
	name, replayed := strings.CutPrefix(spec, "replay:")
	if info, err := os.Stat(name); replayed && err == nil && info.IsDir() {
		m, err := openReplay(name)
		return &source{kind: "replayed", live: m}, err
	}
	m, err := providers.Model(spec, getenv)
	switch {
	case err != nil:
		return nil, err
	case replayed:
		return &source{kind: "replayed", live: m}, nil
	case tapes == "":
		return &source{kind: "live", live: m}, nil
	}
	t, err := openTape(tapes)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return &source{kind: "live", live: t.over(m)}, nil
}

// secondModel returns the model of a spec that gives second opinions; nil for "".
func secondModel(spec, tapes string, getenv func(string) string) (llm.Model, error) {
	if spec == "" {
		return nil, nil
	}
	s, err := answerer(spec, tapes, getenv)
	if err != nil {
		return nil, fmt.Errorf("--second: %w", err)
	}
	return llm.Named("second", s.live), nil
}

// knows reports whether a question can be asked. Every pool must have it, because the pools take turns.
func (s *source) knows(q eval.Question) bool {
	for _, known := range s.known {
		if !known[q.Key()] {
			return false
		}
	}
	return true
}

// models returns the models for questions about one database, whose handle is given.
func (s *source) models(ctx context.Context, database string, handle *sql.DB, dialect exec.Dialect) ([]llm.Model,
	error) {
	if s.live != nil {
		return []llm.Model{s.live}, nil
	}
	if s.walks != nil {
		m, err := walker(s.spec, s.walks, s.dataset)
		return []llm.Model{m}, err
	}
	var list []llm.Model
	for _, p := range s.pools {
		m, err := models.FromPool(p, database)
		if err != nil {
			return nil, err
		}
		m = m.InTurn(len(s.pools))
		if s.kind == models.KindRecorded {
			list = append(list, m)
			continue
		}
		db, err := exec.New(handle, dialect, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
		if err != nil {
			return nil, err
		}
		phases, err := models.NewPhases(ctx, m, db, models.PhaseOptions{KeepScope: s.keep})
		if err != nil {
			return nil, err
		}
		list = append(list, phases)
	}
	return list, nil
}

// asker asks a strategy, with one engine for each database.
type asker struct {
	folder    finder
	source    *source
	strategy  preset
	samples   int
	prices    map[string]llm.Price // nil: unknown
	second    llm.Model            // nil: none
	clarify   float64
	knowledge knowledge.Model
	access    access

	exemplars *exemplars // nil: none
	scorer    *eval.Scorer
	program   *program

	mu      sync.Mutex
	engines map[string]engine
	handles []*sql.DB
}

// engine answers questions about one database, under a contract.
type engine struct {
	*texttosql.Engine
	form     training.Manifest // without exemplars
	contract stats.Contract
}

// sameContracts refuses to go on with a file whose finished questions were asked or scored otherwise.
func (a *asker) sameContracts(ctx context.Context, file string, questions []eval.Question, log *journal) error {
	for _, q := range questions {
		f, ok := log.finished[q.ID]
		if !ok {
			continue
		}
		now, err := a.engine(ctx, q.DB)
		if err != nil {
			return err
		}
		if _, err := stats.Compare(stats.Condition{Name: file, Contract: f.Contract},
			stats.Condition{Name: "this run", Contract: now.contract}, stats.Bootstrap{Rounds: 1}); err != nil {
			return fmt.Errorf("%w; give another --out", err)
		}
	}
	return nil
}

// fits warns if the questions are asked otherwise than the manifest says that an adapter was trained.
func (a *asker) fits(p *program, path string, questions []eval.Question) error {
	if path == "" {
		return nil
	}
	trained, err := readManifest(path)
	if err != nil {
		return err
	}
	shots := 0
	if a.exemplars != nil {
		shots = shotsShown
	}
	asked := map[string]bool{}
	for _, q := range questions {
		if asked[q.DB] {
			continue
		}
		asked[q.DB] = true
		now, err := a.engine(p.ctx, q.DB)
		if err != nil {
			return err
		}
		now.form.K = shots
		for _, difference := range trained.Unfit(now.form) {
			p.note("WARNING: %s does not fit questions about %s: %s", path, q.DB, difference)
		}
	}
	return nil
}

func (a *asker) engine(ctx context.Context, database string) (e engine, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e, ok := a.engines[database]; ok {
		return e, nil
	}
	path, err := a.folder.Database(database)
	if err != nil {
		return e, err
	}
	handle, err := a.access.open(path)
	if err != nil {
		return e, &eval.DatabaseError{ID: database, Path: path, Err: err}
	}
	defer func() {
		if err != nil {
			handle.Close()
		}
	}()
	list, err := a.source.models(ctx, database, handle, a.access.dialect())
	if err != nil {
		return e, err
	}
	chosen, err := a.exemplars.strategy(a.strategy.Strategy, database)
	if err != nil {
		return e, err
	}
	chosen, descriptions, err := a.described(chosen, database, path)
	if err != nil {
		return e, err
	}
	options := append(a.access.options(), texttosql.WithModels(list[1:]...), texttosql.WithDescriptions(descriptions),
		// recorded requests say no day
		texttosql.WithKnowledge(a.knowledge), texttosql.WithBudget(llm.Budget{Prices: a.prices}), texttosql.WithClock(nil))
	if a.clarify > 0 {
		options = append(options, texttosql.WithClarifyBelow(a.clarify))
	}
	if a.second != nil {
		list[0] = llm.Named("first", list[0]) // a recording has no name, and each of two models needs one
		options = append(options, texttosql.WithSecondOpinion(a.second))
	}
	if a.samples > 0 {
		options = append(options, texttosql.WithSamples(a.samples))
	}
	e.Engine, err = texttosql.New(handle, list[0], append(options, texttosql.WithStrategy(chosen))...)
	if err != nil {
		return e, err
	}
	form, err := training.NewExporter(ctx, handle, options...)
	if err != nil {
		return e, err
	}
	if e.form, err = form.Manifest(ctx, 0); err != nil {
		return e, err
	}
	e.contract = a.access.contract(e.form, a.scorer)
	a.handles = append(a.handles, handle)
	if a.engines == nil {
		a.engines = make(map[string]engine)
	}
	a.engines[database] = e
	return e, nil
}

func (a *asker) close() {
	for _, handle := range a.handles {
		handle.Close()
	}
}

// ask answers one question. A question without an answer is finished, with the reason. An error means that asking again
// may help.
func (a *asker) ask(ctx context.Context, q eval.Question) (finished, error) {
	f := finished{Version: journalVersion, ID: q.ID, DB: q.DB}
	engine, err := a.engine(ctx, q.DB)
	if err != nil {
		return f, err
	}
	f.Contract = engine.contract
	asked := &asking{Question: q}
	start := time.Now()
	r, err := engine.Generate(context.WithValue(ctx, askingKey{}, asked), q.Text, texttosql.WithEvidence(q.Evidence))
	f.Sec = time.Since(start).Seconds()
	if r != nil {
		var ferr error
		if f.Voters, ferr = a.voters(ctx, q, r); ferr != nil {
			return f, ferr
		}
		if f.Figures, ferr = a.figures(ctx, asked, r); ferr != nil {
			return f, cmp.Or(err, ferr)
		}
		if r.Answerable != nil {
			f.Answerable = &r.Answerable.Score
		}
		f.SQL, f.Confidence, f.Saved, f.Answer = r.SQL, r.Confidence, r.Saved, answerOf(r)
		f.Calls, f.TokensKnown = r.Usage.Calls, r.Usage.Known
		f.PromptTokens, f.CompletionTokens, f.Money = r.Usage.PromptTokens, r.Usage.CompletionTokens, r.Usage.Money
	}
	var back *session.QuestionError
	var nobody *strategy.NoCandidateError
	down := errors.As(err, &nobody) && len(nobody.Failed) > 0 && a.source.live != nil
	switch {
	case err == nil:
		return f, nil
	case errors.As(err, &back):
		f.SQL, f.Asked = "", true
		return f, nil
	case errors.As(err, new(*strategy.AbstainedError)), errors.Is(err, strategy.ErrNoCandidate) && !down:
		f.SQL, f.Error = "", err.Error()
		return f, nil
	}
	return f, err
}
