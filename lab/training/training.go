// Package training writes solved questions as training data for an adapter.
package training

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/leakguard"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

// Config says what Exporter.Export writes. The zero value writes prompts without exemplars, and guards nothing.
type Config struct {
	K       int               // exemplars in each prompt, 0 or more: as many as the adapter will be asked with
	Pool    []memory.Exemplar // exemplars to choose from; nil: those of WithMemory
	Against []memory.Exemplar // the questions of an evaluation: no pair and no exemplar may give one of them away
}

// Report says what became of the pairs.
type Report struct {
	Manifest Manifest // as it was written
	Dropped  []Dropped
}

// Dropped is a pair that is not in the file.
type Dropped struct {
	Line   int    `json:"line"` // place among the pairs, from 1
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason"`           // one of those that Exporter.Export lists
	Detail string `json:"detail,omitempty"` // for a person, one line; may be empty
}

// Manifest says under what contract prompts are written, and what a file of Exporter.Export holds. It stands beside
// that file as JSON. An adapter that was trained on the file answers best under the same contract.
type Manifest struct {
	Version int    `json:"version"` // of this form: 1
	Library string `json:"library"` // module and version that wrote it
	// SHA-256 of the messages for an empty question and no exemplar, in hexadecimal
	PromptHash string         `json:"prompt_hash"`
	Schema     string         `json:"schema_fingerprint"` // schema.Schema.Fingerprint
	Dialect    string         `json:"dialect"`            // exec.Dialect.Name
	K          int            `json:"k"`                  // exemplars in each prompt
	Seed       int64          `json:"seed"`               // that chose them (WithSeed)
	Exemplars  int            `json:"exemplars"`          // pairs that they were chosen from
	Kept       int            `json:"kept"`               // lines of the file
	Dropped    map[string]int `json:"dropped,omitempty"`  // pairs that are not in it, by reason
	SHA256     string         `json:"sha256,omitempty"`   // of the file, in hexadecimal
	// Training are the published values for a model of 7 or 8 billion weights, as a suggestion.
	Training map[string]any `json:"training,omitempty"`
}

const manifestVersion = 1

// Unfit says in what a run differs from m so that an adapter trained under m may answer worse: one line for each of the
// prompt, the schema, the dialect and the number of exemplars. It is nil where they agree.
func (m Manifest) Unfit(run Manifest) (differences []string) {
	for _, f := range []struct{ name, trained, run string }{
		{"prompt", m.PromptHash, run.PromptHash},
		{"schema", m.Schema, run.Schema},
		{"dialect", m.Dialect, run.Dialect},
		{"exemplars", fmt.Sprint(m.K), fmt.Sprint(run.K)},
	} {
		if f.trained != f.run {
			differences = append(differences, fmt.Sprintf("%s: trained with %.12s, run with %.12s", f.name, f.trained, f.run))
		}
	}
	return differences
}

// Exporter writes the training data of one database. Not safe for concurrent use.
type Exporter struct {
	engine *texttosql.Engine
	env    *strategy.Env
}

// NewExporter returns an Exporter for db under the options that the adapter will be asked with: policy, limits,
// dialect, instructions, descriptions and so on, without a strategy. The lines say no day: ask the adapter with
// texttosql.WithClock(nil). db must stay open.
func NewExporter(ctx context.Context, db *sql.DB, opts ...texttosql.Option) (*Exporter, error) {
	x := &Exporter{}
	nobody := llm.Named("nobody", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, errNotAsked
	}))
	catch := strategy.Func(func(_ context.Context, env *strategy.Env, _ strategy.Task) (*strategy.Outcome, error) {
		if x.env == nil {
			mine := *env
			mine.Host.Omissions = nil
			x.env = &mine
		}
		return nil, errNotAsked
	})
	var err error
	if x.engine, err = texttosql.New(db, nobody,
		append(slices.Clone(opts), texttosql.WithStrategy(catch))...); err != nil {
		return nil, err
	}
	if _, err = x.engine.Generate(ctx, "What is in the database?"); x.env == nil {
		return nil, err
	}
	return x, nil
}

// Manifest returns the contract under which an engine with the options asks with k exemplars. It asks no model.
func (x *Exporter) Manifest(ctx context.Context, k int) (Manifest, error) {
	return manifest(ctx, x.env, k)
}

func manifest(ctx context.Context, env *strategy.Env, k int) (Manifest, error) {
	profiled, err := env.Profiled(ctx, &strategy.Outcome{}, env.Schema)
	if err != nil {
		return Manifest{}, err
	}
	messages, err := strategy.Prompt{}.Prompt(ctx, env, strategy.PromptInput{Schema: profiled})
	if err != nil {
		return Manifest{}, err
	}
	text, err := json.Marshal(chat(messages))
	if err != nil {
		return Manifest{}, err
	}
	sum := sha256.Sum256(text)
	return Manifest{
		Version: manifestVersion, Library: library(), PromptHash: hex.EncodeToString(sum[:]),
		Schema:  env.Schema.Fingerprint(),
		Dialect: env.DB.Language().Name, K: k, Seed: env.Seed,
	}, nil
}

// library returns the name of this module and the version that the program was built with.
func library() string {
	const name = "github.com/texttosql/texttosql"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == name {
				return name + " " + cmp.Or(m.Version, "(devel)")
			}
		}
	}
	return name
}

type chatLine struct {
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func chat(messages []llm.Message) (list []chatMessage) {
	for _, m := range messages {
		list = append(list, chatMessage{m.Role, m.Text})
	}
	return list
}

// Error says that no training data could be written. No file has the final name, or an older one is as it was.
type Error struct {
	Path string // as it was given
	Err  error  // what is wrong
}

// Error says what is wrong, and what to do about a file.
func (e *Error) Error() string {
	if errors.Is(e.Err, errNothingLeft) {
		return fmt.Sprintf("training: exporting %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("training: exporting %s: %v: choose a folder that can be written and has room", e.Path, e.Err)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

var errNothingLeft = errors.New("no pair is left to write; the report has the reason of each")

// Export writes solved questions as training data for an adapter that answers as strategy.Direct is asked. The README
// of lab/finetune shows the way from there.
//
// The file at path has a line {"messages": [{"role", "content"}, …]} a pair, in their order. The last message is the
// assistant's: the SQL with a semicolon. The messages before it are, byte for byte, those that strategy.Direct{Shots:
// K} sends with the options and the exemplars that the pair may have: none that shares its question, its SQL or a
// template of them (leakguard.Guard). K 0 is an engine without exemplars. So an exemplar of a pair depends on the pair,
// the pool and WithSeed alone. Beside
// the file stands its Manifest, as NAME.manifest.json for NAME.jsonl. Equal input gives equal bytes.
//
// A pair is left out, and reported, for one of the reasons not_utf8, empty, too_long, not_select, duplicate (question,
// evidence and SQL occurred before), same_question, question_template, sql_template (see leakguard.Guard.Find, with
// Against) and does_not_execute. Under WithoutExecution the last one is told by a plan. Each statement runs once, as a
// candidate does; no model is called.
//
// Both files are written beside their places and put there at the end, the manifest last. An export that is interrupted
// leaves files NAME.*.part at most. The error is an *Error, a *strategy.ConfigError, ctx.Err(), or what the
// database failed with; the report then holds what was found so far.
func (x *Exporter) Export(ctx context.Context, path string, pairs []memory.Exemplar, c Config) (*Report, error) {
	e := &export{Exporter: x, config: c, report: &Report{}, ask: strategy.Direct{Shots: c.K}}
	if err := e.ask.Validate(0); err != nil {
		return e.report, err
	}
	if err := e.prepare(ctx); err != nil {
		return e.report, err
	}
	return e.report, e.write(ctx, path, pairs)
}

// export is one run of Export.
type export struct {
	*Exporter
	config  Config
	ask     strategy.Direct
	report  *Report
	against *leakguard.Guard
	pool    []memory.Exemplar
	apart   *leakguard.Guard // of pool
	seen    map[memory.Exemplar]bool
}

// prepare fills in the contract, the exemplars that the evaluation leaves, and the guards.
func (x *export) prepare(ctx context.Context) error {
	d := x.env.DB.Language().Text
	m, err := manifest(ctx, x.env, x.config.K)
	if err != nil {
		return err
	}
	x.against, x.seen = leakguard.New(d, x.config.Against), map[memory.Exemplar]bool{}
	if x.config.K > 0 {
		pool := x.config.Pool
		if pool == nil && x.env.Exemplars != nil {
			pool = x.env.Exemplars.Pairs
		}
		for _, p := range pool {
			if leak, _ := x.against.Find(p); leak == "" {
				x.pool = append(x.pool, p)
			}
		}
		if len(x.pool) < x.config.K {
			return &strategy.ConfigError{Field: "training: Config.K", Problem: fmt.Sprintf(
				"it asks for %d exemplars, and the pool has %d that the evaluation leaves: give more, or a smaller K", x.config.K,
				len(x.pool))}
		}
	}
	x.apart = leakguard.New(d, x.pool)
	m.Exemplars, m.Dropped = len(x.pool), map[string]int{}
	m.Training = map[string]any{
		"quantization": "nf4, double", "lora_r": 32, "lora_alpha": 64, "lora_dropout": .05,
		"target_modules": []string{"q_proj", "v_proj"},
		"learning_rate":  1e-4, "epochs": 3, "batch": 1, "accumulation": 8, "warmup": .05,
	}
	x.report.Manifest = m
	return nil
}

// write writes both files, or none.
func (x *export) write(ctx context.Context, path string, pairs []memory.Exemplar) error {
	failed := func(err error) error { return &Error{Path: path, Err: err} }
	about := strings.TrimSuffix(path, filepath.Ext(path)) + ".manifest.json"
	file, err := part(path)
	if err != nil {
		return failed(err)
	}
	defer discard(file)
	beside, err := part(about)
	if err != nil {
		return failed(err)
	}
	defer discard(beside)

	m, hash := &x.report.Manifest, sha256.New()
	out := bufio.NewWriter(io.MultiWriter(file, hash))
	for i, p := range pairs {
		messages, reason, detail, err := x.line(ctx, p)
		if err != nil {
			return err
		}
		if reason != "" {
			x.report.Dropped = append(x.report.Dropped, Dropped{i + 1, oneLine(p.ID), reason, oneLine(detail)})
			m.Dropped[reason]++
			continue
		}
		m.Kept++
		if err := encode(out, "", chatLine{messages}); err != nil {
			return failed(err)
		}
	}
	if m.Kept == 0 {
		return failed(errNothingLeft)
	}
	if err := out.Flush(); err != nil {
		return failed(err)
	}
	m.SHA256 = hex.EncodeToString(hash.Sum(nil))
	// Nothing is put into its place before all of it is on the disk.
	if err := errors.Join(encode(beside, "  ", m), file.Sync(), beside.Sync()); err != nil {
		return failed(err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return failed(err)
	}
	if err := os.Rename(beside.Name(), about); err != nil {
		return failed(err)
	}
	return nil
}

// part makes the file that becomes the one at path.
func part(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return nil, err
	}
	return f, f.Chmod(0o644)
}

// discard closes a part and removes it, unless it was put into its place.
func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// oneLine is text in a line, at most 300 characters of it.
func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	return string(line[:min(len(line), 300)])
}

func encode(w io.Writer, indent string, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// line returns the messages of a pair, or why it is left out.
func (x *export) line(ctx context.Context, p memory.Exemplar) (messages []chatMessage, reason, detail string,
	err error) {
	var long *texttosql.InputError
	_, err = x.engine.Generate(ctx, p.Question, texttosql.WithEvidence(p.Evidence)) // checks the question, and asks nobody
	switch {
	case !utf8.ValidString(p.Question + "\x00" + p.Evidence + "\x00" + p.SQL):
		return nil, "not_utf8", "", nil
	case errors.Is(err, strategy.ErrEmptyQuestion), strings.TrimSpace(p.SQL) == "":
		return nil, "empty", "", nil
	case errors.As(err, &long):
		return nil, "too_long", err.Error(), nil
	case !errors.Is(err, errNotAsked):
		return nil, "", "", err
	}
	d := x.env.DB.Language().Text
	s, err := d.Check(p.SQL)
	if err != nil {
		return nil, "not_select", err.Error(), nil
	}
	if leak, _ := x.against.Find(p); leak != "" {
		return nil, string(leak), "", nil
	}
	once := memory.Exemplar{Question: fold(p.Question), Evidence: fold(p.Evidence), SQL: s.Normalize()}
	if x.seen[once] {
		return nil, "duplicate", "", nil
	}
	x.seen[once] = true
	switch checked, err := x.env.DB.ExamineStatement(ctx, s, x.env.Checks()...); {
	case ctx.Err() != nil:
		return nil, "", "", ctx.Err()
	case errors.Is(err, exec.ErrNotReadOnly):
		return nil, "not_select", err.Error(), nil
	case exec.IsRejection(err):
		return nil, "does_not_execute", err.Error(), nil
	case err != nil:
		return nil, "", "", err
	default:
		s = checked.Statement
	}
	asked, err := x.messages(ctx, p)
	if err != nil {
		return nil, "", "", err
	}
	return append(chat(asked), chatMessage{llm.Assistant, s.SQL() + ";"}), "", "", nil
}

// messages returns those that the strategy sends about the question of p.
func (x *export) messages(ctx context.Context, p memory.Exemplar) (sent []llm.Message, err error) {
	env := *x.env
	pool := slices.Clone(x.pool)
	_, away := x.apart.Find(p)
	for _, i := range away {
		pool[i] = memory.Exemplar{Question: p.Question} // never an exemplar, and the choice among the others stays the same
	}
	env.Exemplars = &memory.Pool{Pairs: pool}
	env.Models = []llm.Model{llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		sent = r.Messages
		return llm.Response{}, errNotAsked
	})}
	_, err = x.ask.Generate(ctx, &env, strategy.Task{Question: p.Question, Evidence: p.Evidence})
	if errors.Is(err, errNotAsked) && sent != nil {
		return sent, nil
	}
	return nil, err
}

var errNotAsked = errors.New("training: an export asks no model")

// fold makes texts comparable.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
