package linker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// maxBridges is how many further tables a path of foreign keys may lead over.
const maxBridges = 2

// joinRun is one question. Tables are given by their places in the schema; part numbers the parts that joins connect,
// by table, -1 for a table that is not in the graph.
type joinRun struct {
	Joins
	ctx      context.Context
	in       Input
	schema   *schema.Schema
	keys     map[joinPair][]ScoredJoin     // declared foreign keys, by their first columns, by name
	more     map[schema.Join][]schema.Join // what else a key of several columns compares
	part     []int
	joins    []ScoredJoin
	question *session.QuestionError // the first pair that was unclear
}

// joinPair is two tables, the one first whose name sorts first.
type joinPair struct{ a, b int }

// add makes a table a part of the graph, of its own, and returns its place.
func (r *joinRun) add(name schema.TableName) (int, error) {
	t, ok := r.schema.Lookup(name.Schema, name.Name)
	if !ok {
		return 0, fmt.Errorf("linker: there is no table %s to join", name)
	}
	i := r.place(t)
	if r.part[i] < 0 {
		r.part[i] = i
	}
	return i, nil
}

func (r *joinRun) place(t *schema.Table) int {
	return slices.IndexFunc(r.schema.Tables, func(o schema.Table) bool { return o.TableName() == t.TableName() })
}

func (r *joinRun) pair(a, b int) joinPair {
	if r.name(a) > r.name(b) {
		a, b = b, a
	}
	return joinPair{a, b}
}

func (r *joinRun) name(i int) string { return r.schema.Tables[i].TableName().String() }

func (r *joinRun) comparePairs(p, q joinPair) int {
	return cmp.Or(strings.Compare(r.name(p.a), r.name(q.a)), strings.Compare(r.name(p.b), r.name(q.b)))
}

// unite makes the parts of two tables one.
func (r *joinRun) unite(p joinPair) {
	from, to := r.part[p.a], r.part[p.b]
	for i := range r.part {
		if r.part[i] == from {
			r.part[i] = to
		}
	}
}

// isApart reports whether two tables of the graph are in different parts.
func (r *joinRun) isApart(p joinPair) bool {
	return r.part[p.a] >= 0 && r.part[p.b] >= 0 && r.part[p.a] != r.part[p.b]
}

// apart returns the pairs of tables that are in different parts, by name.
func (r *joinRun) apart() (pairs []joinPair) {
	var tables []int // of the graph: few, of a schema that may be large
	for i, part := range r.part {
		if part >= 0 {
			tables = append(tables, i)
		}
	}
	for n, a := range tables {
		for _, b := range tables[:n] {
			if p := r.pair(a, b); r.isApart(p) {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortFunc(pairs, r.comparePairs)
	return pairs
}

// connect joins the tables.
func (r *joinRun) connect() error {
	if err := r.ofUser(); err != nil {
		return err
	}
	open := r.withoutRejected().Graph()
	for {
		r.declared()
		if err := r.byKeys(); err != nil {
			return err
		}
		if !r.bridge(open) {
			break
		}
	}
	if err := r.byNames(); err != nil {
		return err
	}
	if pairs := r.apart(); len(pairs) > 0 {
		return fmt.Errorf("%w %s and %s; say which columns join them, or ask about one of them", ErrNoJoin,
			r.name(pairs[0].a), r.name(pairs[0].b))
	}
	return nil
}

// ofUser takes the joins of the user as they are.
func (r *joinRun) ofUser() error {
	for _, c := range r.in.Corrections {
		if c.Kind != dialogue.CorrectJoin || c.Join == nil {
			continue
		}
		j := c.Join.Ordered()
		if slices.ContainsFunc(r.joins, func(o ScoredJoin) bool { return o.Join.Equal(j) }) {
			continue
		}
		left, err := r.add(j.Left.Table)
		right, err2 := r.add(j.Right.Table)
		if err = cmp.Or(err, err2); err != nil {
			return err
		}
		r.joins = append(r.joins, ScoredJoin{Join: j, Confidence: 1, Origin: joinOfUser})
		r.unite(r.pair(left, right))
	}
	return nil
}

// declared reads the foreign keys of the tables in the graph.
func (r *joinRun) declared() {
	r.keys, r.more = map[joinPair][]ScoredJoin{}, map[schema.Join][]schema.Join{}
	for i := range r.schema.Tables {
		t := &r.schema.Tables[i]
		if r.part[i] < 0 {
			continue
		}
		for _, k := range t.ForeignKeys {
			ref, ok := target(r.schema, t, k)
			if !ok || len(k.Columns) == 0 || len(k.Columns) != len(k.RefColumns) {
				continue
			}
			var joins []schema.Join
			for n := range k.Columns {
				joins = append(joins, joinOf(t, k.Columns[n], ref, k.RefColumns[n]))
			}
			p, first := r.pair(i, r.place(ref)), joins[0]
			if !slices.ContainsFunc(r.keys[p], func(o ScoredJoin) bool { return o.Join.Equal(first) }) {
				r.keys[p], r.more[first] = append(r.keys[p], ScoredJoin{Join: first, Confidence: 1, Origin: joinOfKey}), joins[1:]
			}
		}
	}
	for _, keys := range r.keys {
		slices.SortFunc(keys, compareJoins)
	}
}

// joinOf compares two columns.
func joinOf(a *schema.Table, x string, b *schema.Table, y string) schema.Join {
	return schema.Join{
		Left: schema.ColumnName{Table: a.TableName(), Column: x}, Right: schema.ColumnName{Table: b.TableName(), Column: y},
	}.Ordered()
}

// target is the table that a key of t refers to. A key that names no schema means one of t's own schema before any
// other.
func target(s *schema.Schema, t *schema.Table, k schema.ForeignKey) (*schema.Table, bool) {
	if k.RefSchema == "" {
		if ref, ok := s.Lookup(t.Schema, k.RefTable); ok {
			return ref, true
		}
	}
	return s.Lookup(k.RefSchema, k.RefTable)
}

// byKeys joins parts by the foreign keys between their tables: pairs with one key first, then those of whose keys the
// question names some, and the unclear ones last.
func (r *joinRun) byKeys() error {
	asked := r.askedFor()
	pairs := slices.SortedFunc(maps.Keys(r.keys), r.comparePairs)
	for _, p := range pairs {
		if len(r.keys[p]) == 1 && r.isApart(p) {
			r.take(p, r.keys[p], 1)
		}
	}
	for _, p := range pairs {
		if r.isApart(p) {
			if ways, n := r.namedFirst(r.keys[p], asked); n > 0 {
				r.take(p, ways, n)
			}
		}
	}
	for _, p := range pairs {
		if r.isApart(p) {
			if err := r.choose(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// take joins a pair by the first n ways; the others are alternatives.
func (r *joinRun) take(p joinPair, ways []ScoredJoin, n int) {
	var others []schema.Join
	for _, w := range ways[n:] {
		others = append(others, w.Join)
	}
	for _, w := range ways[:n] {
		w.Alternatives = others
		r.joins = append(r.joins, w)
		for _, w.Join = range r.more[w.Join] {
			r.joins = append(r.joins, w)
		}
	}
	r.unite(p)
}

// askedFor returns the words of the question, and of what the user said about it.
func (r *joinRun) askedFor() map[string]bool {
	in := r.in
	for _, c := range in.Corrections {
		in.Question += "\n" + c.Text
		if c.Kind == dialogue.CorrectColumn && c.Column != nil {
			in.Question += "\n" + strings.Join(words.OfName(c.Column.Column), " ")
		}
	}
	return askedWords(in, false)
}

// namedFirst puts the n ways first that have a word of the question which not all of them have.
func (r *joinRun) namedFirst(ways []ScoredJoin, asked map[string]bool) (order []ScoredJoin, n int) {
	count := map[string]int{}
	of := make([]map[string]bool, len(ways))
	for i, w := range ways {
		of[i] = map[string]bool{}
		for _, j := range append([]schema.Join{w.Join}, r.more[w.Join]...) {
			for _, c := range []schema.ColumnName{j.Left, j.Right} {
				t, _ := r.schema.Lookup(c.Table.Schema, c.Table.Name)
				column, _ := t.Column(c.Column)
				for _, word := range slices.Concat(words.Stems(c.Column), words.Stems(column.Title)) {
					of[i][word] = true
				}
			}
		}
		for word := range of[i] {
			count[word]++
		}
	}
	for i, w := range ways {
		isNamed := false
		for word := range of[i] {
			tells := count[word] < len(ways) && !keyWords[word] && strings.Trim(word, "0123456789") != ""
			isNamed = isNamed || tells && asked[word]
		}
		if isNamed {
			order, n = slices.Insert(order, n, w), n+1
		} else {
			order = append(order, w)
		}
	}
	return order, n
}

// withoutRejected is the schema without the tables that the user will not have, so that none is a bridge.
func (r *joinRun) withoutRejected() *schema.Schema {
	rejected := map[*schema.Table]bool{}
	set := func(tables []schema.TableName, to bool) {
		for _, name := range tables {
			if t, ok := r.schema.Lookup(name.Schema, name.Name); ok {
				rejected[t] = to && r.part[r.place(t)] < 0
			}
		}
	}
	for _, c := range r.in.Corrections {
		set(c.Rejected, true)
		set(c.Tables, false)
	}
	return r.schema.Project(func(t *schema.Table) bool { return !rejected[t] }, nil)
}

// bridge adds the tables of a shortest path of keys over at most maxBridges further tables between two parts, and
// reports whether there is one. A path that Restrict finds is the first by name.
func (r *joinRun) bridge(open *schema.Graph) bool {
	var best []int
	for _, p := range r.apart() {
		joined, _ := open.Restrict(schema.Links{Tables: []schema.TableLink{
			r.schema.Tables[p.a].TableName().Link(), r.schema.Tables[p.b].TableName().Link(),
		}})
		var path []int
		for i := range joined.Tables {
			if place := r.place(&joined.Tables[i]); r.part[place] < 0 {
				path = append(path, place)
			}
		}
		if n := len(path); n > 0 && n <= maxBridges && (best == nil || n < len(best)) {
			best = path
		}
	}
	for _, i := range best {
		r.part[i] = i
	}
	return best != nil
}
