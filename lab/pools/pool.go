package pools

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/eval"
)

// Pool is a set of recorded answers that vote together: for each question the
// answers of several systems, several settings or several samples.
type Pool struct {
	Name      string          // as [Folder.Pool] takes it
	Dataset   *eval.Dataset   // where the questions come from, all of them
	Questions []eval.Question // those that the pool answers and whose database is there, in the dataset's order
	Answers   [][]eval.Answer // of each question, in voting order: never empty
	LeftOut   LeftOut         // what of the file is not in the pool
}

// LeftOut counts what a pool does not hold.
type LeftOut struct {
	eval.LeftOut          // of the answers in the file
	NoDatabase   int      // questions with answers whose database is not there
	Databases    []string // ids of those databases, all of them
	Unanswered   int      // questions of the dataset without an answer
}

// String says what was left out in a line, "" when it was nothing.
func (l LeftOut) String() string {
	var parts []string
	if text := l.LeftOut.String(); text != "" {
		parts = append(parts, text)
	}
	if l.NoDatabase > 0 {
		text := fmt.Sprintf("questions without their database: %d (%s", l.NoDatabase,
			strings.Join(l.Databases[:min(mostPlaces, len(l.Databases))], "; "))
		if len(l.Databases) > mostPlaces {
			text += "; …"
		}
		parts = append(parts, text+")")
	}
	if l.Unanswered > 0 {
		parts = append(parts, fmt.Sprintf("questions without an answer: %d", l.Unanswered))
	}
	return strings.Join(parts, "; ")
}

// mostPlaces is how many places a LeftOut names.
const mostPlaces = 3

// UnknownPoolError says that a folder has no answers under a name.
type UnknownPoolError struct {
	Name string // as it was asked for
	Run  string // the one of several runs in Name that has no answers; "" when none has
	File string // where they would be; "" when the name itself leads nowhere
}

// Error says which names there are, or in which file no answer is of the pool.
func (e *UnknownPoolError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("pools: there is no pool %q: pools are named DATASET/all, DATASET/RUN, bird_minidev/RUN, "+
			"samples/RUN or classicmodels/PREFIX, and NAME?first=N", e.Name)
	}
	if e.Run != "" {
		return fmt.Sprintf("pools: there is no pool %q: no answer in %s is of the run %q", e.Name, e.File, e.Run)
	}
	return fmt.Sprintf("pools: there is no pool %q: no answer in %s is of it", e.Name, e.File)
}

// Pools returns the names of the pools that this project's figures are about.
func Pools() []string {
	return []string{
		"classicmodels/llama_base_k3", "classicmodels/qwen_base_k3", "classicmodels/base_k3", "classicmodels/qwen_react_k3",
		"spider_dev/all",
		"samples/spider_samples_k16", "samples/spider_samples_multi", "samples/grok-4-1-fast-non-reasoning_k=12",
		"bird_dev/all",
	}
}

// poolSource is where the answers of a pool are, and which of them belong to it.
type poolSource struct {
	files   []string
	place   string // of the files, for messages
	dataset func(file string) string
	belongs func(run string) bool
	runs    []string                   // that a list names: each has to be there; nil for other names
	order   func(a, b eval.Answer) int // nil: file order
	first   int                        // runs at most; 0: all
}

// Pool reads the pool of a name:
//
//	spider_dev/all, bird_dev/all       every run, in file order; so for any preds_DATASET
//	spider_dev/RUN,RUN, bird_dev/RUN   some runs, or one
//	bird_minidev/all, bird_minidev/RUN the same of the runs on SQLite
//	samples/RUN                        the samples of one run, by sample
//	classicmodels/PREFIX               the runs PREFIX_seed*, by seed; or the run PREFIX
//	classicmodels/base_k3              llama_base_k3 and qwen_base_k3, in file order
//	NAME?first=N                       those of the first N runs of the pool NAME, as the file has them; N ≥ 1
//
// Answers to questions without a database, or that the dataset does not have, are
// left out and counted. The file is read as a stream: the pool holds no more than
// its own answers. A name without answers, and a list with a run that has none, is
// an *[UnknownPoolError], a broken file a *[FileError], and a pool none of whose
// databases is there an error that says so.
func (f *Folder) Pool(name string) (*Pool, error) {
	of, first, cut := strings.Cut(name, "?first=")
	src, err := f.poolSource(of)
	if src.first, _ = strconv.Atoi(first); err != nil || cut && src.first < 1 {
		return nil, &UnknownPoolError{Name: name}
	}
	var broken []error // of files that may or may not have had the pool
	for _, file := range src.files {
		p, found, err := f.readPool(name, file, src)
		if found {
			return p, err
		}
		if err != nil {
			broken = append(broken, err)
		}
	}
	if len(broken) > 0 {
		return nil, errors.Join(broken...)
	}
	return nil, &UnknownPoolError{Name: name, File: src.place}
}

func (f *Folder) poolSource(name string) (poolSource, error) {
	source, rest, _ := strings.Cut(name, "/")
	if rest == "" {
		return poolSource{}, &UnknownPoolError{Name: name}
	}
	one := func(dataset string) poolSource {
		file := f.Path("predictions", "preds_"+dataset+".jsonl.gz")
		src := poolSource{
			files:   []string{file},
			place:   file,
			dataset: func(string) string { return dataset },
			belongs: func(run string) bool { return rest == "all" || run == rest },
		}
		if runs := strings.Split(rest, ","); len(runs) > 1 {
			src.runs = runs
			src.belongs = func(run string) bool { return run == rest || slices.Contains(runs, run) }
		}
		return src
	}
	switch source {
	case "bird_minidev":
		src := one(source)
		src.dataset = func(string) string { return "bird_minidev_v2" }
		named := src.belongs
		src.belongs = func(run string) bool { return named(run) && strings.Contains(strings.ToLower(run), "sqlite") }
		return src, nil
	case "classicmodels":
		src := one(source)
		prefixes := []string{rest}
		if rest == "base_k3" {
			prefixes = []string{"llama_base_k3", "qwen_base_k3"}
		} else {
			src.order = func(a, b eval.Answer) int { return cmp.Compare(seed(a.Run), seed(b.Run)) }
		}
		src.belongs = func(run string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return run == p || strings.HasPrefix(run, p+"_seed") })
		}
		return src, nil
	case "samples":
		files, _ := filepath.Glob(f.Path("samples", "samples_*.jsonl.gz"))
		files = slices.DeleteFunc(files, func(p string) bool { return strings.HasSuffix(p, ".exec.jsonl.gz") })
		return poolSource{
			files:   files,
			place:   f.Path("samples"),
			dataset: f.sampled,
			belongs: func(run string) bool { return run == rest },
			order: func(a, b eval.Answer) int {
				x, errX := strconv.Atoi(a.Sample)
				y, errY := strconv.Atoi(b.Sample)
				if errX != nil || errY != nil {
					return 0 // named, not numbered: in file order
				}
				return cmp.Compare(x, y)
			},
		}, nil
	}
	src := one(source)
	_, questions := f.DatasetPath(source)
	if _, err := os.Stat(src.place); err != nil && !questions {
		return poolSource{}, &UnknownPoolError{Name: name}
	}
	return src, nil // if one of the two files is missing, that is the error
}

// sampled returns the name of the dataset that a file of samples is about: the
// longest one that the file's name begins with, and for a file that is named
// otherwise that of its benchmark.
func (f *Folder) sampled(file string) string {
	rest := strings.TrimPrefix(filepath.Base(file), "samples_")
	longest := ""
	for _, name := range f.Datasets() {
		if strings.HasPrefix(rest, name) && len(name) > len(longest) {
			longest = name
		}
	}
	switch {
	case longest != "":
		return longest
	case strings.HasPrefix(rest, "bird"):
		return "bird_dev"
	}
	return "spider_dev"
}

// seed is the number that a run's name ends in.
func seed(run string) int {
	at := strings.LastIndex(run, "_seed")
	if at < 0 {
		return -1
	}
	n, err := strconv.Atoi(run[at+len("_seed"):])
	if err != nil {
		return -1
	}
	return n
}

// readPool reads the pool of a name from one file; found says that it is there.
func (f *Folder) readPool(name, file string, src poolSource) (p *Pool, found bool, err error) {
	d, err := f.Dataset(src.dataset(file))
	if err != nil {
		return nil, false, err
	}
	here := map[string]bool{}
	for _, id := range d.Databases() {
		_, err := f.Database(id)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
		here[id] = err == nil
	}
	p = &Pool{Name: name, Dataset: d}
	answers := map[string][]eval.Answer{}
	elsewhere := map[string]bool{}
	runs := map[string]bool{}
	for a, err := range eval.Answers(file) {
		if err != nil {
			return nil, found, err
		}
		if !src.belongs(a.Run) || src.first > 0 && len(runs) == src.first && !runs[a.Run] {
			continue
		}
		found = true
		runs[a.Run] = true
		q, ok := p.LeftOut.find(d, a, file)
		switch {
		case !ok:
		case !here[q.DB]:
			elsewhere[q.ID] = true
		default:
			answers[q.ID] = append(answers[q.ID], a)
		}
	}
	if !found {
		return nil, false, nil
	}
	for _, run := range src.runs { // without one of them it would be another pool
		if !runs[run] && !runs[strings.Join(src.runs, ",")] {
			return nil, true, &UnknownPoolError{Name: name, Run: run, File: src.place}
		}
	}
	p.LeftOut.NoDatabase = len(elsewhere)
	for _, q := range d.Questions {
		of := answers[q.ID]
		if len(of) == 0 {
			if !elsewhere[q.ID] {
				p.LeftOut.Unanswered++
			} else if !slices.Contains(p.LeftOut.Databases, q.DB) {
				p.LeftOut.Databases = append(p.LeftOut.Databases, q.DB)
			}
			continue
		}
		if src.order != nil {
			slices.SortStableFunc(of, src.order)
		}
		p.Questions = append(p.Questions, q)
		p.Answers = append(p.Answers, of)
	}
	if len(p.Questions) == 0 {
		return nil, true, fmt.Errorf("pools: pool %s: %s", name, p.LeftOut)
	}
	return p, true, nil
}

// find returns the question of an answer, and counts the answers without one.
func (l *LeftOut) find(d *eval.Dataset, a eval.Answer, file string) (eval.Question, bool) {
	q, ok := d.Question(a.Question)
	count, places, about := &l.Unknown, &l.UnknownAt, ""
	if ok && a.DB != "" && q.DB != "" && a.DB != q.DB {
		count, places, about, ok = &l.Mismatched, &l.MismatchAt, fmt.Sprintf(" about %s, not %s", q.DB, a.DB), false
	}
	if ok {
		return q, true
	}
	*count++
	if len(*places) < mostPlaces {
		*places = append(*places, fmt.Sprintf("%s:%d, question %s%s", file, a.Line, a.Question, about))
	}
	return eval.Question{}, false
}
