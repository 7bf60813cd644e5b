package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/trace"
)

// rowsVerb is the verb rows.
type rowsVerb struct {
	Data      []string `required:"" default:"${data}" placeholder:"DIR" help:"Folders of evaluation data (default: TEXTTOSQL_DATA)."`
	Only      []string `sep:"none" placeholder:"NAME" help:"Database; may be repeated. Default: all that have questions."`
	Golds     bool     `help:"Golds only, no recorded answers."`
	Some      int      `default:"1" placeholder:"N" help:"Only every Nth statement."`
	Generated int      `default:"0" placeholder:"N" help:"So many generated statements in place of the recorded ones, spread over the databases."`
	Cost      bool     `help:"Time the golds in place of comparing them: with the rules, with the same conditions written by hand, on the copy."`
	List      bool     `help:"Also a line for each statement that is refused, differs or is not determined."`
	Workers   int      `default:"${cpus}" help:"Statements at a time."`
	JSON      bool     `name:"json" help:"JSON lines instead of a table."`
	onServer  `embed:""`
}

// Help is the part of --help that explains words and keys.
func (rowsVerb) Help() string {
	return `Each table of a database gets a rule about its rows: by a column that has few values where there is one, else by its key. A copy
of the database loses the rows that the rules hide. Then each distinct statement runs through the guard on the whole
database with the rules, and on the copy without; both must give the same values. It also runs with the rules on that copy, a
database with other hidden rows: both must give the same rows in the same order, to the last digit. Both have statistics then.

A result that SQL does not determine is found by two more copies: one read backwards (PRAGMA reverse_unordered_selects; SQLite
only), three with shuffled rows and without keys. Where the result changes there, or where
the ties of an ORDER BY are broken, or is the same without the LIMIT at its end, only the numbers of rows are compared with the
plain copy. The order with the rules is compared for all.

JSON: a line for each database, and "db": "all".
  db, n         statements
  accepted      those that run without rules
  with_rules    those of accepted that run with rules
  same          those of with_rules with the same result (bags of rows, nine digits; in order behind ORDER BY); names_differ: those
                whose columns are called otherwise
  undetermined  those of with_rules whose result changes without a rule; counts_differ: with another number of rows
  differ        the rest: faults
  order_differs those of with_rules with other rows, another order or another verdict where the hidden rows are gone: faults
  limit         over a limit on one side, not counted elsewhere
  unfenced      those of with_rules that ran without a fence: nothing in them can fail on a value of a row
  golds         those of with_rules that are golds; golds_fenced: those of golds that ran behind a fence
  refused       those of accepted that the rules refuse, by reason
With --list first a line for each statement that is not the same: db, sql, why. With --cost:
  db, n, rules_hand_p50, rules_hand_p95  times with rules ÷ with the conditions written by hand, where they can be
  unfenced_n, unfenced_p50, unfenced_p95 the same of those of n that ran without a fence
  fenced_p50, fenced_p95                 the same of the others
  m, rules_copy_p50, rules_copy_p95      times with rules ÷ on the copy
  hand_copy_p50, hand_copy_p95           times by hand ÷ on the copy`
}

// rowsLine counts outcomes, by the keys of rowsKeys.
type rowsLine struct {
	db      string
	n       map[string]int
	refused map[string]int
}

var rowsKeys = []string{"n", "accepted", "with_rules", "same", "names_differ", "undetermined", "counts_differ",
	"differ", "order_differs", "limit", "unfenced",
	"golds", "golds_fenced"}

func newRowsLine(db string) *rowsLine { return &rowsLine{db, map[string]int{}, map[string]int{}} }

// MarshalJSON implements [json.Marshaler].
func (l *rowsLine) MarshalJSON() ([]byte, error) {
	out := map[string]any{"db": l.db, "refused": l.refused}
	for _, key := range rowsKeys {
		out[key] = l.n[key]
	}
	return json.Marshal(out)
}

func (l *rowsLine) add(o *rowsLine) {
	for key, n := range o.n {
		l.n[key] += n
	}
	for why, n := range o.refused {
		l.refused[why] += n
	}
}

// count counts one outcome, under its own key and those that hold it.
func (l *rowsLine) count(o outcome) {
	keys := map[string]string{
		"limit": "n limit", "refused": "n accepted", "same": "n accepted with_rules same",
		"names differ":  "n accepted with_rules same names_differ",
		"undetermined":  "n accepted with_rules undetermined",
		"counts differ": "n accepted with_rules undetermined counts_differ",
		"differ":        "n accepted with_rules differ",
	}
	for _, key := range strings.Fields(cmp.Or(keys[o.Was], "n")) {
		l.n[key]++
	}
	if o.unfenced {
		l.n["unfenced"]++
	}
	if o.OrderDiffers {
		l.n["order_differs"]++
	}
	if withRules := strings.Contains(keys[o.Was], "with_rules"); withRules && o.gold {
		l.n["golds"]++
		if !o.unfenced {
			l.n["golds_fenced"]++
		}
	}
	if o.Was == "refused" {
		l.refused[o.Why]++
	}
}

// Run compares.
func (v *rowsVerb) Run(p *program) error {
	if v.Workers < 1 || v.Some < 1 {
		return errors.New("--workers and --some must be at least 1")
	}
	if err := v.check(); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "lab-rows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	byDB, paths := map[string][]ruledStatement{}, map[string]string{}
	for _, dir := range v.Data {
		folder, err := pools.OpenFolder(dir)
		if err != nil {
			return err
		}
		list, err := (&enginesVerb{Only: v.Only, Some: v.Some, Golds: v.Golds || v.Cost ||
			v.Generated > 0}).statements(folder)
		if err != nil && len(v.Only) == 0 {
			return err
		}
		for _, s := range list {
			if paths[s.DB], err = folder.Database(s.DB); err != nil {
				return err
			}
			byDB[s.DB] = append(byDB[s.DB], ruledStatement{s.SQL, s.Kind == "gold"})
		}
	}
	if len(byDB) == 0 {
		return errors.New("no statement about such a database")
	}
	bounds := within
	if v.Generated > 0 {
		bounds.Timeout = time.Second // many of them join everything with everything
	}
	all := newRowsLine("all")
	var lines []*rowsLine
	var costs []costLine
	for i, id := range slices.Sorted(maps.Keys(byDB)) {
		base, err := v.base(p.ctx, id, paths[id], temp)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		statements := byDB[id]
		if v.Generated > 0 {
			statements = base.generate((v.Generated*(i+1))/len(byDB)-(v.Generated*i)/len(byDB), uint64(i))
		}
		if v.Cost {
			line, err := base.cost(p.ctx, statements)
			if err != nil {
				return err
			}
			costs = append(costs, line)
			base.close()
			continue
		}
		line, err := v.compare(p, base, bounds, statements)
		base.close()
		if err != nil {
			return err
		}
		lines = append(lines, line)
		all.add(line)
	}
	switch {
	case v.Cost && v.JSON:
		return jsonLines(p.out, withAll(costs))
	case v.Cost:
		return printCosts(p, withAll(costs))
	}
	lines = append(lines, all)
	if v.JSON {
		return jsonLines(p.out, lines)
	}
	var rows [][]string
	for _, l := range lines {
		row := []string{l.db}
		for _, key := range rowsKeys {
			row = append(row, strconv.Itoa(l.n[key]))
		}
		rows = append(rows, row)
	}
	if err := table(p.out, append([]string{"db"}, rowsKeys...), rows); err != nil {
		return err
	}
	if golds := all.n["golds"]; golds > 0 {
		fmt.Fprintf(p.out, "%d of %d golds need a fence: %.1f %%\n", all.n["golds_fenced"], golds,
			100*float64(all.n["golds_fenced"])/float64(golds))
	}
	rows = nil
	for _, why := range slices.SortedFunc(maps.Keys(all.refused), func(a, b string) int {
		return cmp.Or(all.refused[b]-all.refused[a], cmp.Compare(a, b))
	}) {
		rows = append(rows, []string{why, strconv.Itoa(all.refused[why])})
	}
	return table(p.out, []string{"refused with rules", "n"}, rows)
}

var within = exec.Bounds{Rows: 50_000, Bytes: 64 << 20, CellBytes: 1_000_000, Timeout: 5 * time.Second}

var nineDigits = result.Equality{Digits: 9}

// outcome is what became of a statement.
type outcome struct {
	DB  string `json:"db"`
	SQL string `json:"sql"`
	Was string `json:"was"` // not accepted, same, undetermined, counts differ, differ, limit, refused
	Why string `json:"why,omitempty"`

	OrderDiffers bool `json:"order_differs,omitempty"`

	unfenced, gold bool
}

// ruledStatement is a statement to compare.
type ruledStatement struct {
	text string
	gold bool
}

// ruledQuery runs a statement with rules, and reports whether it ran without a fence.
func ruledQuery(ctx context.Context, r *exec.Runner, text string) (t *result.Table, unfenced bool, err error) {
	span := trace.Tracer{}.New("lab")
	defer span.End()
	t, err = r.Query(trace.NewContext(ctx, span), text)
	for s := range span.All() {
		fenced, told := s.Attr("fenced")
		unfenced = unfenced || told && fenced == false
	}
	return t, unfenced, err
}

// compare runs statements on both sides.
func (v *rowsVerb) compare(p *program, b *rowsBase, bounds exec.Bounds, statements []ruledStatement) (*rowsLine,
	error) {
	line := newRowsLine(b.id)
	bar := newProgress(p.err, b.id, len(statements))
	var (
		mu     sync.Mutex
		list   []outcome
		queue  = make(chan ruledStatement)
		group  errgroup.Group
		worker = func() error {
			var runners [3]*exec.Runner
			for i, db := range []*exec.DB{b.copied, b.ruled, b.twin} {
				r, err := db.Runner(bounds)
				if err != nil {
					return err
				}
				defer r.Close()
				runners[i] = r
			}
			for s := range queue {
				o := b.try(p.ctx, runners[0], runners[1], s.text)
				o.gold = s.gold
				o.compareOrder(p.ctx, runners[1], runners[2])
				mu.Lock()
				line.count(o)
				if o.OrderDiffers || o.Was != "same" && o.Was != "not accepted" {
					list = append(list, o)
				}
				mu.Unlock()
				bar.step(len(statements))
			}
			return nil
		}
	)
	for range v.Workers {
		group.Go(worker)
	}
	for _, s := range statements {
		if p.ctx.Err() != nil {
			break
		}
		queue <- s
	}
	close(queue)
	err := cmp.Or(group.Wait(), p.ctx.Err())
	bar.done()
	if err == nil && v.List {
		slices.SortFunc(list, func(a, b outcome) int { return cmp.Or(cmp.Compare(a.Was, b.Was), cmp.Compare(a.SQL, b.SQL)) })
		err = jsonLines(p.out, list)
	}
	return line, err
}

// compareOrder runs a statement with the rules on the database and on the twin, where other rows are hidden: both
// report the same.
func (o *outcome) compareOrder(ctx context.Context, here, there *exec.Runner) {
	if o.Was == "not accepted" || o.Was == "limit" {
		return
	}
	a, errA := here.Query(ctx, o.SQL)
	b, errB := there.Query(ctx, o.SQL)
	if isLimit(errA) || isLimit(errB) {
		return
	}
	told, other := tellOf(a, errA), tellOf(b, errB)
	if o.OrderDiffers = told != other; o.OrderDiffers {
		o.Why = strings.TrimSpace(fmt.Sprintf("%s order: %.200s, and with other hidden rows %.200s", o.Why, told, other))
	}
}

// tellOf is all that a caller reads of a result, in order.
func tellOf(t *result.Table, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(t.Columns, t.Rows, t.Truncated)
}

// isLimit reports an error about time or size, which is that of the machine.
func isLimit(err error) bool {
	return errors.As(err, new(*exec.LimitError)) || errors.Is(err, exec.ErrBusy)
}

// limited is a LIMIT at the end of a statement.
var limited = regexp.MustCompile(`(?is)\blimit\b[^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?;?\s*$`)

// tied is an ORDER BY to which something can be added.
var tied = regexp.MustCompile(
	`(?is)(\border\s+by\b(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*?)(\s+limit\b|\s*;?\s*$)`)

var ordered = regexp.MustCompile(`(?is)\border\s+by\b[^()]*$`)

// try runs one statement on the copy and under the rules.
func (b *rowsBase) try(ctx context.Context, left, right *exec.Runner, text string) outcome {
	o := outcome{DB: b.id, SQL: text}
	want, err := left.Query(ctx, text)
	if err != nil {
		o.Was, o.Why = "not accepted", err.Error()
		if isLimit(err) {
			o.Was = "limit"
		}
		return o
	}
	got, unfenced, err := ruledQuery(ctx, right, text)
	switch {
	case isLimit(err), err == nil && (want.Truncated || got.Truncated):
		o.Was = "limit"
		return o
	case err != nil:
		o.Was, o.Why = "refused", reason(err)
		return o
	}
	o.unfenced = unfenced
	order := ordered.MatchString(text)
	same := func(a, b *result.Table) bool {
		return nineDigits.Equal(a, b) && (!order || result.Equality{Ordered: true, Digits: 9}.Equal(a, b))
	}
	o.Was = "same"
	if same(want, got) {
		if !slices.Equal(want.Columns, got.Columns) {
			o.Was, o.Why = "names differ", fmt.Sprintf("columns %q on the copy, %q with rules", want.Columns, got.Columns)
		}
		return o
	}
	// Of rows that an ORDER BY does not tell apart, a LIMIT takes any.
	if cut := limited.FindStringIndex(text); cut != nil {
		a, errA := left.Query(ctx, text[:cut[0]])
		c, errC := right.Query(ctx, text[:cut[0]])
		if errA == nil && errC == nil && nineDigits.Equal(a, c) && len(want.Rows) == len(got.Rows) {
			o.Was = "undetermined"
			return o
		}
	}
	o.Was, o.Why = "differ", fmt.Sprintf("%d rows on the copy, %d with rules", len(want.Rows), len(got.Rows))
	for _, db := range b.variants {
		other, err := db.QueryWithin(ctx, text, within)
		if err != nil || same(want, other) {
			continue
		}
		o.Was = "undetermined"
		if len(want.Rows) != len(got.Rows) {
			o.Was = "counts differ"
		}
	}
	// What stands behind an ORDER BY breaks its ties only: another result is one that the statement may have.
	for _, tie := range []string{"${1}, 1 $2", "${1}, 1 DESC$2", "${1}, 2 $2", "${1}, 2 DESC$2"} {
		other, err := left.Query(ctx, tied.ReplaceAllString(text, tie))
		if o.Was == "differ" && err == nil && !same(want, other) {
			o.Was = "undetermined"
		}
	}
	return o
}

var quotedName = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`|\\[[^\\]]*\\]|\\b\\d+\\b|\\b\\w+\\.\\w+\\b")

// reason is why a statement is refused, without its names.
func reason(err error) string {
	text := err.Error()
	text = quotedName.ReplaceAllString(text, "…")
	var refused *exec.RefusedError
	if errors.As(err, &refused) && refused.Reason != "rows" {
		return refused.Reason
	}
	return text[:min(len(text), 110)]
}

// generate writes statements about the database.
func (b *rowsBase) generate(n int, seed uint64) (list []ruledStatement) {
	g := &generator{b: b, l: b.whole.Language(), r: rand.New(rand.NewPCG(seed, 30)), seen: map[string]bool{},
		values: map[string][]any{}}
	for tries := 0; len(list) < n && tries < 20*n; tries++ {
		if text := g.statement(); !g.seen[text] {
			g.seen[text] = true
			list = append(list, ruledStatement{text: text})
		}
	}
	return list
}
