package linker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// askedTables is how many tables linkers look at that ask about or into each, at a time.
const askedTables = 40

// ErrNoTables says that no table is relevant to a question. Test for it with errors.Is.
var ErrNoTables = errors.New("linker: no table is relevant to the question")

// NoTablesError is an ErrNoTables with how many tables were asked about.
type NoTablesError struct {
	Asked int   // tables that the model was asked about
	Alike int   // tables that are like one of these
	Total int   // tables that there are
	Err   error // why no more were asked about, such as a spent budget; nil: Tables says how many, or all were
}

// Error says what to do.
func (e *NoTablesError) Error() string {
	rest := e.Total - e.Asked - e.Alike
	if rest == 0 {
		return ErrNoTables.Error() + "; name what it is about as the tables do"
	}
	text := fmt.Sprintf("linker: none of the %d tables asked about is relevant; %d of %d were not asked", e.Asked, rest, e.Total)
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text + ". Name the table (use table NAME), or raise Tables"
}

// Is reports whether target is ErrNoTables.
func (e *NoTablesError) Is(target error) bool { return target == ErrNoTables }

// Unwrap returns why no more tables were asked about.
func (e *NoTablesError) Unwrap() error { return e.Err }

// waves are the tables to ask a model about, by place in the schema: those that the index puts first, then the next ones.
type waves struct {
	in    Input
	order [][]int // each in the order of the schema
	asked int     // tables of the waves that were made
	alike int     // tables of these waves' families that nobody asks about
	total int
	spare []int // by wave: tables alike
}

// wavesOf parts the tables into waves; most bounds them all together, 0: no bound. Of a family of tables alike those are
// asked about that the question means.
func (in Input) wavesOf(most int) *waves {
	w := &waves{in: in, total: len(in.Schema.Tables)}
	if most == 0 {
		most = w.total
	}
	if w.total <= min(most, askedTables) {
		all := make([]int, w.total)
		for i := range all {
			all[i] = i
		}
		w.order, w.spare = [][]int{all}, []int{0}
		return w
	}
	x := in.index()
	ranked, _ := x.rank(in, askedWords(in, false))
	numbers := askedNumbers(in)
	var wave []int
	taken, spare := 0, 0
	end := func() {
		slices.Sort(wave)
		w.order, w.spare = append(w.order, wave), append(w.spare, spare)
		wave, spare = nil, 0
	}
	for _, r := range ranked {
		chosen, _ := x.choose(r.entry, numbers)
		if taken+len(chosen) > most {
			break
		}
		if len(wave) > 0 && len(wave)+len(chosen) > askedTables {
			end()
		}
		for _, i := range chosen {
			wave = append(wave, int(i))
		}
		taken, spare = taken+len(chosen), spare+len(x.entries[r.entry].members)-len(chosen)
	}
	if end(); len(w.order[0]) == 0 {
		w.order[0] = in.first(most)
	}
	return w
}

// FirstWave is how many tables of s a judge of tables asks about at least, where most bounds them; 0: nothing does.
func FirstWave(s *schema.Schema, most int) int {
	if most == 0 {
		most = askedTables
	}
	return min(len(s.Tables), most, askedTables)
}

// begin notes that a wave is asked about, and returns its tables that a prompt may show.
func (w *waves) begin(n int) *schema.Schema {
	w.asked, w.alike = w.asked+len(w.order[n]), w.alike+w.spare[n]
	if len(w.order[n]) == w.total {
		shown, _ := w.in.Schema.Presentable()
		return shown
	}
	kept := map[*schema.Table]bool{}
	for _, i := range w.order[n] {
		kept[&w.in.Schema.Tables[i]] = true
	}
	part := w.in.Schema.Project(func(t *schema.Table) bool { return kept[t] }, func(*schema.Table, *schema.Column) bool { return true })
	shown, _ := part.Presentable()
	return shown
}

// judge asks about one wave after the other until a table of one stands, as one says, or a budget is spent behind the first
// wave: that is the error spent, and what is known by then decides.
func (w *waves) judge(one func(wave *schema.Schema) (stands bool, err error)) (stands bool, spent, err error) {
	for n := range w.order {
		before := *w
		stands, err := one(w.begin(n))
		if n > 0 && errors.Is(err, llm.ErrBudget) {
			*w = before
			return false, err, nil
		}
		if stands || err != nil {
			return stands, nil, err
		}
	}
	return false, nil, nil
}

// error is that of a question to which no table is relevant; why says that no more were asked about.
func (w *waves) error(why error) error { return &NoTablesError{w.asked, w.alike, w.total, why} }

// end tells how many tables were not asked about, where there are some, as a warning and a note of links.
func (w *waves) end(ctx context.Context, links *schema.Links) (notAsked int) {
	trace.From(ctx).Set("asked", w.asked)
	trace.From(ctx).Set("not_asked", w.total-w.asked)
	if w.asked == w.total {
		return 0
	}
	text := fmt.Sprintf("%d of %d tables were asked about; ", w.asked, w.total)
	if w.alike > 0 {
		text += fmt.Sprintf("%d are alike and share one entry; ", w.alike)
	}
	if rest := w.total - w.asked - w.alike; rest > 0 {
		text += fmt.Sprintf("%d were not; ", rest)
	}
	text = strings.TrimSuffix(text, "; ")
	trace.From(ctx).Warn("tables-not-asked", text)
	links.Notes = append(links.Notes, text)
	return w.total - w.asked
}
