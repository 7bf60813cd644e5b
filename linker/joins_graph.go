package linker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	keys     map[joinPair][]way // declared foreign keys
	next     map[int][]int      // tables that a key joins each table with, by name
	part     []int
	rejected map[int]bool // tables that the user will not have, so that none is a bridge
	joins    []ScoredJoin
	question *session.QuestionError // the first pair that was unclear
}

// joinPair is two tables, the one first whose name sorts first.
type joinPair struct{ a, b int }

// way is one way to join two tables: several joins for a key of several columns.
type way []schema.Join

// add makes a table a part of the graph, of its own.
func (r *joinRun) add(name schema.TableName) error {
	t, ok := r.schema.Lookup(name.Schema, name.Name)
	if !ok {
		return fmt.Errorf("linker: there is no table %s to join", name)
	}
	if i := r.place(t); r.part[i] < 0 {
		r.part[i] = i
	}
	return nil
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

func (r *joinRun) isApart(p joinPair) bool { return r.part[p.a] != r.part[p.b] }

// apart returns the pairs of tables that are in different parts, by name.
func (r *joinRun) apart() (pairs []joinPair) {
	for a := range r.part {
		for b := range a {
			if r.part[a] >= 0 && r.part[b] >= 0 && r.part[a] != r.part[b] {
				pairs = append(pairs, r.pair(a, b))
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
	r.declared()
	for {
		if err := r.byKeys(); err != nil {
			return err
		}
		if !r.bridge() {
			break
		}
	}
	if err := r.byNames(); err != nil {
		return err
	}
	if pairs := r.apart(); len(pairs) > 0 {
		return fmt.Errorf("%w %s and %s; say which columns join them, or ask about one of them", ErrNoJoin, r.name(pairs[0].a), r.name(pairs[0].b))
	}
	return nil
}

// ofUser takes the joins of the user as they are.
func (r *joinRun) ofUser() error {
	for _, c := range r.in.Corrections {
		if c.Kind != session.CorrectJoin || c.Join == nil {
			continue
		}
		j := c.Join.Ordered()
		if slices.ContainsFunc(r.joins, func(o ScoredJoin) bool { return o.Join.Equal(j) }) {
			continue
		}
		if err := cmp.Or(r.add(j.Left.Table), r.add(j.Right.Table)); err != nil {
			return err
		}
		r.joins = append(r.joins, ScoredJoin{Join: j, Confidence: 1, Origin: joinOfUser})
		left, _ := r.schema.Lookup(j.Left.Table.Schema, j.Left.Table.Name)
		right, _ := r.schema.Lookup(j.Right.Table.Schema, j.Right.Table.Name)
		r.unite(r.pair(r.place(left), r.place(right)))
	}
	return nil
}

// declared reads the foreign keys of the schema, and what the user rejected.
func (r *joinRun) declared() {
	r.keys, r.next, r.rejected = map[joinPair][]way{}, map[int][]int{}, map[int]bool{}
	for _, c := range r.in.Corrections {
		for i := range r.schema.Tables {
			isTable := func(n schema.TableName) bool {
				return sameTable(n.Schema, n.Name, r.schema.Tables[i].Schema, r.schema.Tables[i].Name)
			}
			r.rejected[i] = (r.rejected[i] || slices.ContainsFunc(c.Rejected, isTable)) && !slices.ContainsFunc(c.Tables, isTable)
		}
	}
	for i := range r.schema.Tables {
		t := &r.schema.Tables[i]
		for _, k := range t.ForeignKeys {
			ref, ok := target(r.schema, t, k)
			if !ok || len(k.Columns) == 0 || len(k.Columns) != len(k.RefColumns) {
				continue
			}
			var w way
			for n := range k.Columns {
				w = append(w, schema.Join{
					Left: schema.ColumnName{Table: t.TableName(), Column: k.Columns[n]}, Right: schema.ColumnName{Table: ref.TableName(), Column: k.RefColumns[n]},
				}.Ordered())
			}
			p := r.pair(i, r.place(ref))
			if !slices.ContainsFunc(r.keys[p], func(o way) bool { return slices.EqualFunc(o, w, schema.Join.Equal) }) {
				r.keys[p] = append(r.keys[p], w)
			}
		}
	}
	for p, ways := range r.keys {
		slices.SortFunc(ways, func(a, b way) int { return strings.Compare(a[0].String(), b[0].String()) })
		r.next[p.a], r.next[p.b] = append(r.next[p.a], p.b), append(r.next[p.b], p.a)
	}
	for i := range r.next {
		slices.SortFunc(r.next[i], func(a, b int) int { return strings.Compare(r.name(a), r.name(b)) })
	}
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
	words := r.askedFor()
	var unclear []joinPair
	pairs := slices.SortedFunc(maps.Keys(r.keys), r.comparePairs)
	for _, single := range []bool{true, false} {
		for _, p := range pairs {
			if r.part[p.a] < 0 || r.part[p.b] < 0 || !r.isApart(p) || (len(r.keys[p]) == 1) != single {
				continue
			}
			chosen := r.keys[p]
			if !single {
				chosen = r.namedWays(chosen, words)
			}
			if len(chosen) == 0 {
				unclear = append(unclear, p)
				continue
			}
			r.take(p, chosen, r.keys[p], 1, joinOfKey, "")
		}
	}
	for _, p := range unclear {
		if r.isApart(p) {
			if err := r.choose(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// take joins a pair by the chosen ways; the others are alternatives.
func (r *joinRun) take(p joinPair, chosen, all []way, confidence float64, origin, reason string) {
	var others []schema.Join
	for _, w := range all {
		if !slices.ContainsFunc(chosen, func(c way) bool { return c[0].Equal(w[0]) }) {
			others = append(others, w[0])
		}
	}
	for _, w := range chosen {
		for _, j := range w {
			r.joins = append(r.joins, ScoredJoin{Join: j, Confidence: confidence, Origin: origin, Reason: reason, Alternatives: others})
		}
	}
	r.unite(p)
}

// askedFor returns the words of the question, and of what the user said about it.
func (r *joinRun) askedFor() map[string]bool {
	in := r.in
	for _, c := range in.Corrections {
		in.Question += "\n" + c.Text
		if c.Kind == session.CorrectColumn && c.Column != nil {
			in.Question += "\n" + strings.Join(words.OfName(c.Column.Column), " ")
		}
	}
	return askedWords(in, false)
}

// namedWays returns the ways that have a word of the question which not all of them have.
func (r *joinRun) namedWays(ways []way, asked map[string]bool) (named []way) {
	of := make([]map[string]bool, len(ways))
	count := map[string]int{}
	for i, w := range ways {
		of[i] = map[string]bool{}
		for _, j := range w {
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
		for word := range of[i] {
			if asked[word] && count[word] < len(ways) && !keyWords[word] && strings.Trim(word, "0123456789") != "" {
				named = append(named, w)
				break
			}
		}
	}
	return named
}

// bridge adds the tables of a shortest path of keys over at most maxBridges further tables between two parts, and
// reports whether there is one. Paths are looked for from the tables in the order of their names.
func (r *joinRun) bridge() bool {
	var best []int
	order := make([]int, 0, len(r.part))
	for i := range r.part {
		if r.part[i] >= 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(r.name(a), r.name(b)) })
	for _, start := range order {
		if path := r.path(start); path != nil && (best == nil || len(path) < len(best)) {
			best = path
		}
	}
	for _, i := range best {
		r.part[i] = i
	}
	return best != nil
}

// path returns the tables between start and the nearest table of another part; nil if they are too many.
func (r *joinRun) path(start int) []int {
	from := map[int]int{start: start}
	for step, reached := 0, []int{start}; step <= maxBridges; step++ {
		var further []int
		for _, i := range reached {
			for _, j := range r.next[i] {
				if _, known := from[j]; known || r.rejected[j] && r.part[j] < 0 {
					continue
				}
				from[j] = i
				if r.part[j] < 0 {
					further = append(further, j)
				} else if r.part[j] != r.part[start] {
					var path []int
					for at := i; at != start; at = from[at] {
						path = append(path, at)
					}
					return path
				}
			}
		}
		reached = further
	}
	return nil
}
