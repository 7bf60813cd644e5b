package linker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/schema"
)

// askedTables is how many tables linkers look at that ask about or into each, at a time, and how many calls a wave
// takes.
const askedTables = 40

// mostPerCall is how many tables one call is about, unless a field says otherwise.
const mostPerCall = 8

// perCall is how many tables of s a call is about: set, or as many as it takes to ask about all of them by 40 calls.
// size is how many tables a wave has; 0: one wave has all of them, as the loop of the source.
func perCall(s *schema.Schema, set, most int) (tables, size int) {
	total := len(s.Tables)
	if most > 0 {
		total = min(total, most)
	}
	switch set {
	case 0:
		tables = min(max((total+askedTables-1)/askedTables, 1), mostPerCall)
	case 1:
		return 1, 0
	default:
		tables = set
	}
	return tables, askedTables * tables
}

// ErrNoTables reports that no table is relevant to a question. Test for it with errors.Is.
var ErrNoTables = errors.New("linker: no table is relevant to the question")

// noTablesError is an ErrNoTables with how many tables were asked about.
type noTablesError struct {
	Asked int   // tables that the model was asked about
	Alike int   // tables that are like one of these
	Total int   // tables that there are
	Err   error // why no more were asked about, such as a spent budget; nil: Tables says how many, or all were
}

// Error says what to do.
func (e *noTablesError) Error() string {
	rest := e.Total - e.Asked - e.Alike
	if rest == 0 {
		return ErrNoTables.Error() + "; name what it is about as the tables do"
	}
	text := fmt.Sprintf("linker: none of the %d tables asked about is relevant; %d of %d were not asked", e.Asked, rest,
		e.Total)
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text + ". Name the table (use table NAME), or raise Tables"
}

// Is reports whether target is ErrNoTables.
func (e *noTablesError) Is(target error) bool { return target == ErrNoTables }

// Unwrap returns why no more tables were asked about.
func (e *noTablesError) Unwrap() error { return e.Err }

// wave is the tables that are asked about, or looked into, at a time.
type wave struct {
	places []int // in the schema, in its order
	alike  int   // tables of their families that are not among them
}

// waves parts the tables into waves of so many: those that the index puts first, then the next ones. most bounds them
// all together, 0: no bound. Of a family of tables alike those are taken that the question means, unless one wave has
// all tables.
func (in Input) waves(most, size int) (list []wave) {
	total := len(in.Schema.Tables)
	if most == 0 {
		most = total
	}
	var next wave
	if size == 0 && total <= most || total <= min(most, askedTables) {
		for i := range total {
			next.places = append(next.places, i)
		}
		return []wave{next}
	}
	size = cmp.Or(size, total)
	x := in.index()
	ranked, _ := x.rank(in, askedWords(in, false))
	numbers := askedNumbers(in)
	for _, r := range ranked {
		chosen, _ := x.choose(r.entry, numbers)
		if most -= len(chosen); most < 0 {
			break
		}
		if len(next.places) > 0 && len(next.places)+len(chosen) > size {
			list, next = append(list, next), wave{}
		}
		for _, i := range chosen {
			next.places = append(next.places, int(i))
		}
		next.alike += len(x.entries[r.entry].members) - len(chosen)
	}
	list = append(list, next)
	for _, w := range list {
		slices.Sort(w.places)
	}
	return list
}

// FirstWave returns how many calls about tables of s there are at least, and how many tables each is about.
func (m MapReduce) FirstWave(s *schema.Schema) (calls, tables int) {
	return firstWave(s, m.PerCall, m.Tables)
}

// FirstWave returns how many calls about tables of s there are at least, and how many tables each is about.
func (p PerTable) FirstWave(s *schema.Schema) (calls, tables int) {
	return firstWave(s, p.perCall(), p.Tables)
}

// firstWave is of at most most tables; 0: of any number.
func firstWave(s *schema.Schema, set, most int) (calls, tables int) {
	tables, size := perCall(s, set, most)
	first := min(len(s.Tables), cmp.Or(size, len(s.Tables)))
	if most > 0 {
		first = min(first, most)
	}
	return (first + tables - 1) / tables, tables
}
