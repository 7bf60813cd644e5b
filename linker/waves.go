package linker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/schema"
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

// wave is the tables that are asked about, or looked into, at a time.
type wave struct {
	places []int // in the schema, in its order
	alike  int   // tables of their families that are not among them
}

// waves parts the tables: those that the index puts first, then the next ones. most bounds them all together, 0: no bound. Of
// a family of tables alike those are taken that the question means.
func (in Input) waves(most int) (list []wave) {
	total := len(in.Schema.Tables)
	if most == 0 {
		most = total
	}
	var next wave
	if total <= min(most, askedTables) {
		for i := range total {
			next.places = append(next.places, i)
		}
		return []wave{next}
	}
	x := in.index()
	ranked, _ := x.rank(in, askedWords(in, false))
	numbers := askedNumbers(in)
	for _, r := range ranked {
		chosen, _ := x.choose(r.entry, numbers)
		if most -= len(chosen); most < 0 {
			break
		}
		if len(next.places) > 0 && len(next.places)+len(chosen) > askedTables {
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

// FirstWave is how many tables of s a judge of tables asks about at least, where most bounds them; 0: nothing does.
func FirstWave(s *schema.Schema, most int) int {
	if most == 0 {
		most = askedTables
	}
	return min(len(s.Tables), most, askedTables)
}
