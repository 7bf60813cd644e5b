package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Columns has a model describe columns: one sentence each, of at most 200 characters.
//
// It asks one table after the other, in the order of the schema, with one call for 25 columns, at temperature 0.
// Columns that the reply leaves out get a call each. A reply that cannot be read is asked for once more by [llm.Ask];
// so a table of n columns costs ⌈n÷25⌉ calls, and at most 2·⌈n÷25⌉ + 2·n.
//
// The prompt has names, types, keys and descriptions of the table, and up to 5 stored values a column of at most 40
// characters, from [exec.DB.Profile], but none of columns marked Sensitive. Tables whose names start with "sqlite_" are
// passed over.
//
// Safe for concurrent use, but not for two calls with one File.
type Columns struct {
	// it writes the descriptions; required. An llm.BudgetTracker around it bounds what a call of Describe costs
	Model         llm.Model
	File          string // JSON file that keeps the descriptions; "": they are only returned
	WithoutValues bool   // shows no stored value to the model, and profiles nothing

	// Progress is called when a table is done, with whether it has a description now, the number of tables that are
	// done and of those to be asked. nil: nobody is told.
	Progress func(table schema.TableName, described bool, done, of int)

	fruitless *int // calls since the last description
}

// ErrFruitless says that the model described nothing in 18 calls in a row, so that Describe stopped paying for it.
var ErrFruitless = errors.New("describe: the model gave no description in 18 calls in a row: try another model")

// mostFruitless is how many calls may give nothing, each request with its second attempt.
const mostFruitless = 18

// purposeDescribe is the purpose of the requests of Columns.
const purposeDescribe = "describe"

const (
	promptVersion  = 1 // to be raised with every change of the prompt
	columnsPerCall = 25
)

// Describe describes the columns of s that have no description yet, and returns what the file holds then. A nil s is
// the schema that db has. What the policy of db denies is left out. Titles and descriptions of s are shown to the
// model: see
// [schema.Schema.Describe].
//
// A column is asked about if the file has neither a text nor a failure for it, and again if its table changed and no
// person wrote a text. A description that a model fails to give is empty, with the reason in Failed. The file is
// replaced as a whole after each table and on disk when Describe goes on, so it is complete at every moment. A person
// may edit it meanwhile. Nothing is ever taken out of it. Notes, which are warnings of the trace too, say what a person
// should know: that the file was written for another schema or by another model, or what could not be shown.
//
// The error is a [*FileError] if the file cannot be used, as a rule before any call. A spent budget, the end of ctx, a
// refused key, two tables in a row without a reply and 18 calls in a row without a description ([ErrFruitless]) end it
// early. Then and after any other call that failed, the error says so beside what was described, and another call of
// Describe goes on.
func (c Columns) Describe(ctx context.Context, db *exec.DB, s *schema.Schema) (schema.DescriptionFile, error) {
	if c.Model == nil || db == nil {
		return schema.DescriptionFile{}, errors.New("describe: Columns needs a Model and a database")
	}
	c.Model, c.fruitless = llm.Chain(c.Model, (&llm.TokenLimitTuner{}).Middleware()), new(int)
	k, err := open(c.File)
	if err != nil {
		return schema.DescriptionFile{}, err
	}
	if s == nil {
		s, err = db.Schema(ctx)
	} else {
		s, err = db.Permitted(ctx, s)
	}
	if err != nil {
		return k.file, fmt.Errorf("describe: %w", err)
	}
	err = c.describe(ctx, db, s, k)
	for _, note := range k.file.Notes {
		trace.FromContext(ctx).Warn("descriptions", note)
	}
	return k.file, err
}

func (c Columns) describe(ctx context.Context, db *exec.DB, s *schema.Schema, k *keeper) error {
	note := func(format string, args ...any) { k.file.Notes = append(k.file.Notes, fmt.Sprintf(format, args...)) }
	fingerprint, name := s.Fingerprint(), llm.NameOf(c.Model)
	if of := k.file.Schema; of != "" && of != fingerprint {
		note("the file was written for another schema: what it has stays, and what is new or changed is asked")
	}
	if k.file.Prompt != 0 && (k.file.Model != name || k.file.Prompt != promptVersion) {
		note("the file has descriptions by model %q and version %d of the prompt, which stay", k.file.Model, k.file.Prompt)
	}
	s, left := s.Presentable()
	for _, l := range left {
		note("not described: %v", l)
	}
	shown, unknown := s.Describe(k.file.Descriptions)
	if len(unknown) > 0 {
		note("the schema does not have %d names of the file: %s", len(unknown), some(unknown))
	}
	jobs, ambiguous := k.jobs(shown)
	if len(ambiguous) > 0 {
		note("not described, because their names also mean something else: %s", some(ambiguous))
	}
	if len(jobs) == 0 {
		return ctx.Err()
	}
	// Before the first call, so that none is paid for a file that cannot be written.
	err := k.save(func(f *schema.DescriptionFile) {
		f.Schema, f.Model, f.Prompt = fingerprint, name, promptVersion
	})
	if err != nil {
		return err
	}
	if !c.WithoutValues {
		profiled, err := profile(ctx, db, shown, jobs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			note("not all of the database could be profiled: %s", redact.Line(err.Error()))
		}
		if profiled != nil {
			shown = profiled
		}
	}
	var failed []error
	silent := 0 // tables in a row without a reply
	for i, job := range jobs {
		err := c.table(ctx, db, &shown.Tables[job.table], job, k, &silent)
		switch refused := (*llm.Error)(nil); {
		case err == nil:
			if c.Progress != nil {
				has := func(key string) bool { return k.file.Descriptions[key].Described != "" }
				c.Progress(job.name, slices.ContainsFunc(job.keys, has), i+1, len(jobs))
			}
			continue
		case ctx.Err() != nil, errors.Is(err, llm.ErrBudget), errors.Is(err, ErrFruitless), errors.As(err, new(*FileError)),
			silent > 1,
			errors.As(err, &refused) && refused.Status >= 401 && refused.Status <= 403:
			return fmt.Errorf("describe: table %s: %w (%d of %d tables are done; another call goes on)", job.name, err,
				i-len(failed), len(jobs))
		}
		failed = append(failed, fmt.Errorf("describe: table %s: %w", job.name, err))
	}
	return errors.Join(failed...)
}

// some writes the first ten of a list of names.
func some(names []string) string {
	text := fmt.Sprintf("%.100q", names[:min(10, len(names))])
	if len(names) > 10 {
		text += " …"
	}
	return text
}

// profile returns s with profiles of the tables that are asked about, views aside.
func profile(ctx context.Context, db *exec.DB, s *schema.Schema, jobs []job) (*schema.Schema, error) {
	var tables []string
	for _, job := range jobs {
		if s.Tables[job.table].Kind != "view" {
			tables = append(tables, job.name.String())
		}
	}
	if len(tables) == 0 {
		return s, nil
	}
	return db.Profile(ctx, s, exec.ProfileOptions{Tables: tables})
}

// table asks about the columns of one table. The error is that of a call or of the file; the table is done without one.
func (c Columns) table(ctx context.Context, db *exec.DB, t *schema.Table, job job, k *keeper, silent *int) (err error) {
	ctx, span := trace.Start(ctx, "describe",
		trace.Attr{Key: "table", Value: trace.PrivateSQL.Secret(job.name.String())},
		trace.Attr{Key: "columns", Value: len(job.columns)})
	defer func() {
		span.Fail(err)
		span.End()
	}()
	*silent++
	for columns := range slices.Chunk(job.columns, columnsPerCall) {
		texts, reason, err := c.ask(ctx, db, t, columns)
		missing := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return texts[i] != "" })
		if err == nil {
			*silent = 0
		}
		if len(texts) > 0 && len(missing) > 0 { // the calls that follow may take long
			if err := k.save(job.put(texts, nil)); err != nil {
				return err
			}
		}
		reasons := map[int]string{}
		for _, i := range missing {
			if err == nil && len(columns) > 1 {
				var one map[int]string
				if one, reason, err = c.ask(ctx, db, t, []int{i}); one[i] != "" {
					texts[i] = one[i]
					continue
				}
			}
			if err != nil {
				if ctx.Err() != nil || errors.Is(err, llm.ErrBudget) || errors.Is(err, ErrFruitless) {
					return errors.Join(err, k.save(job.put(texts, reasons)))
				}
				reason = redact.Line(err.Error())
			}
			reasons[i] = reason
		}
		fault := k.save(func(f *schema.DescriptionFile) {
			job.put(texts, reasons)(f)
			switch {
			case err != nil:
				delete(f.Tables, job.name.String()) // what failed without a reply is asked again
			case slices.Max(columns) == slices.Max(job.columns):
				if f.Tables == nil {
					f.Tables = map[string]string{}
				}
				f.Tables[job.name.String()] = job.fingerprint
			}
		})
		if err = cmp.Or(fault, err); err != nil {
			return err
		}
	}
	return nil
}

// ask returns the descriptions that one call gave, by the places of their columns, and why there are not more. The
// error is that of a call without a reply.
func (c Columns) ask(ctx context.Context, db *exec.DB, t *schema.Table, columns []int) (texts map[int]string,
	reason string, err error) {
	exact := 0.0
	texts = map[int]string{}
	_, err = llm.Ask(ctx, c.Model, llm.Request{
		Messages: c.messages(db, t, columns), Purpose: purposeDescribe, Temperature: &exact,
		MaxTokens: new(300 + 80*len(columns)),
	}, func(reply map[string]any) error {
		if texts = read(reply, db, t, columns); len(texts) == 0 {
			return errors.New("no key of the object is a listed column with a sentence")
		}
		return nil
	})
	var unreadable *llm.ReplyError
	if errors.As(err, &unreadable) {
		if *c.fruitless += 2; *c.fruitless >= mostFruitless {
			return texts, unreadable.Problem, ErrFruitless
		}
		return texts, unreadable.Problem, nil
	}
	if err == nil {
		*c.fruitless = 0
	}
	return texts, "the reply has no sentence for it", err
}

// read returns the sentences of a reply for columns, by their places. Names may be quoted, in another case or behind
// the name of the table, and stand in an object of their own.
func read(reply map[string]any, db *exec.DB, t *schema.Table, columns []int) map[int]string {
	texts := map[int]string{}
	for _, fold := range []func(string) string{func(name string) string { return name }, schema.FoldCase} {
		at := map[string]int{}
		for _, i := range slices.Backward(columns) {
			name := t.Columns[i].Name
			for _, spelled := range []string{t.Name + "." + name, db.Language().Quote(name), name} {
				at[fold(spelled)] = i
			}
		}
		for _, name := range slices.Sorted(maps.Keys(reply)) {
			value := reply[name]
			i, ok := at[fold(name)]
			if of, is := value.(map[string]any); is && ok {
				value = of["description"]
			} else if is && len(reply) == 1 {
				return read(of, db, t, columns)
			}
			if text, is := value.(string); ok && is && texts[i] == "" {
				if text = prompttext.Comment(text); text != "" {
					texts[i] = text
				}
			}
		}
	}
	return texts
}

// job is what is to be asked about one table.
type job struct {
	table       int // its place in the schema
	name        schema.TableName
	fingerprint string
	columns     []int    // their places
	keys        []string // of all columns of the table, in the file
}

// put returns a change of a file: the texts and reasons for columns of the table, by their places. A text that a person
// wrote meanwhile stays.
func (j job) put(texts, reasons map[int]string) func(*schema.DescriptionFile) {
	return func(f *schema.DescriptionFile) {
		for _, i := range j.columns {
			key := j.keys[i]
			d := f.Descriptions[key]
			switch {
			case d.Text != "":
			case texts[i] != "":
				d.Described = texts[i]
				f.Descriptions[key] = d
				delete(f.Failed, key)
			case reasons[i] != "" && d.Described == "":
				f.Failed[key] = reasons[i]
			}
		}
	}
}

// jobs returns the tables of s with columns that are to be asked about, and the columns whose names mean something else
// too. s has the descriptions of the file.
func (k *keeper) jobs(s *schema.Schema) (jobs []job, ambiguous []string) {
	keys := map[string]string{} // of the file, by their folded form
	for _, name := range k.names() {
		keys[schema.FoldCase(name)] = name
	}
	own := schema.Descriptions{}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			name := schema.ColumnName{Table: t.TableName(), Column: c.Name}.String()
			own[name] = schema.Description{Values: name}
		}
	}
	probe, _ := s.Describe(own)
	for i, t := range s.Tables {
		if strings.HasPrefix(schema.FoldCase(t.Name), "sqlite_") {
			continue
		}
		alone := schema.Schema{Dialect: s.Dialect, Tables: []schema.Table{t}}
		j := job{table: i, name: t.TableName(), fingerprint: alone.Fingerprint()}
		before := k.file.Tables[j.name.String()]
		for n, c := range t.Columns {
			name := schema.ColumnName{Table: j.name, Column: c.Name}.String()
			key := cmp.Or(keys[schema.FoldCase(name)], name)
			j.keys = append(j.keys, key)
			if probe.Tables[i].Columns[n].Values != name {
				ambiguous = append(ambiguous, name)
				continue
			}
			d, reason := k.file.Descriptions[key], k.file.Failed[key]
			switch {
			case d.Text != "":
			case d.Described == "" && reason == "", before != "" && before != j.fingerprint, before == "" && d.Described == "":
				j.columns = append(j.columns, n)
			}
		}
		if len(j.columns) > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs, ambiguous
}
