package linker

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
)

// Index ranks the tables of one schema for a question. It reads the names of the schema once.
//
// It is an inverted index over the words of names, schemas, titles, descriptions and example values, ranked by BM25F.
// The names of a table and of its schema weigh 3, its columns 1, its description 1, the descriptions of columns 0.1.
// A word also finds names that start with it, or with the same letters, at half the weight. If a table shares a key
// column with one of the best tables, it is ranked after that table. Tables whose names differ only in digits and
// whose columns are nearly the same form one entry (a family). Earlier questions improve the ranking: WithHistory.
//
// An Index does not change; the methods With… return a new one. Safe for concurrent use.
type Index struct {
	*names
	schema  *schema.Schema
	texts   func() snapshot.Words // stored ones, by the profiles of schema
	history *history
}

// names is what the indexes of schemas share that differ in profiles only.
type names struct {
	entries  []entry
	ids      map[string]int32   // of words
	words    []string           // sorted, for beginnings
	postings [][]posting        // by id
	titled   []int32            // by id: tables that have the word in their names
	keys     map[string][]int32 // entries by the name of a column that may be a key
	entryOf  map[schema.TableName]int32
}

// entry is a table, or a family of tables.
type entry struct {
	members []int32 // places in the schema
	keys    []string
}

type posting struct {
	entry  int32
	weight float32
}

// The weights of BM25F, chosen on data-large by folds: docs/lab/scale-linking.md. A field counts by its share of the
// mean length.
const (
	fieldName, fieldSchema, fieldColumn, fieldText, fieldColumnText = 0, 1, 2, 3, 4

	saturation     = 2   // k1
	begunWeight    = 0.5 // of a name that a word begins
	evidenceWeight = 0.3 // of words of the evidence alone
	keyWeightShare = 0.3 // of the score of a table, for those that share a key with it
	bestEntries    = 5   // whose keys are followed
	mostSharing    = 50  // tables that may have a key that is followed
)

var fieldWeights = [...]float64{fieldName: 3, fieldSchema: 3, fieldColumn: 1, fieldText: 1, fieldColumnText: 0.1}

// Index reads a schema once, for Input.Index. It takes a few microseconds a column.
func (Lexical) Index(s *schema.Schema) *Index { return newIndex(s, nil) }

// newIndex reads a schema and what people know of it.
func newIndex(s *schema.Schema, known *knowledge.Model) *Index {
	b := indexBuilder{names: &names{ids: map[string]int32{}, keys: map[string][]int32{}}, schema: s,
		stems: map[string][]int32{}}
	if known != nil {
		b.said = known.Words(s)
	}
	b.families()
	for e := range b.entries {
		b.read(e, b.measure)
	}
	for f := range b.mean {
		b.mean[f] = max(b.mean[f]/float64(max(len(b.entries), 1)), 1e-9)
	}
	b.score = make([]float32, len(b.ids))
	b.postings, b.titled = make([][]posting, len(b.ids)), make([]int32, len(b.ids))
	for e := range b.entries {
		b.read(e, b.weigh)
		for _, id := range b.touched {
			b.postings[id] = append(b.postings[id], posting{int32(e), b.score[id]})
			b.score[id] = 0
		}
		b.touched = b.touched[:0]
	}
	for id, list := range b.postings {
		rare := b.rarity(len(list))
		for i, p := range list {
			list[i].weight = float32(rare * saturated(float64(p.weight)))
		}
		b.postings[id] = slices.Clip(list)
	}
	b.words = make([]string, 0, len(b.ids))
	for w := range b.ids {
		b.words = append(b.words, w)
	}
	slices.Sort(b.words)
	return (&Index{names: b.names}).profiled(s)
}

func saturated(tf float64) float64 { return tf * (saturation + 1) / (saturation + tf) }

// rarity is the idf of a word that n entries have.
func (x *names) rarity(n int) float64 {
	return math.Log(1 + (float64(len(x.entries))-float64(n)+.5)/(float64(n)+.5))
}

type indexBuilder struct {
	*names
	schema  *schema.Schema
	said    map[int]string     // by place in the schema: what people call the table
	stems   map[string][]int32 // of names: most columns are called like others
	lengths [][len(fieldWeights)]int32
	mean    [len(fieldWeights)]float64
	score   []float32 // of the entry that is read, by word
	touched []int32
}

// families makes the entries.
func (b *indexBuilder) families() {
	byName := map[string][]int32{}
	b.entryOf = make(map[schema.TableName]int32, len(b.schema.Tables))
	for i := range b.schema.Tables {
		t := &b.schema.Tables[i]
		key := t.Schema + "\x00" + pattern(t.Name)
		at := slices.IndexFunc(byName[key], func(e int32) bool { return alike(&b.schema.Tables[b.entries[e].members[0]], t) })
		if at >= 0 {
			e := &b.entries[byName[key][at]]
			e.members = append(e.members, int32(i))
			b.entryOf[t.TableName()] = byName[key][at]
			continue
		}
		b.entryOf[t.TableName()] = int32(len(b.entries))
		byName[key] = append(byName[key], int32(len(b.entries)))
		b.entries = append(b.entries, entry{members: []int32{int32(i)}})
	}
	b.lengths = make([][len(fieldWeights)]int32, len(b.entries))
}

// pattern is a name with # for each run of digits.
func pattern(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return name
	}
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		if !isDigit(name[i]) {
			out = append(out, name[i])
		} else if i == 0 || !isDigit(name[i-1]) {
			out = append(out, '#')
		}
	}
	return string(out)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// alike reports whether two tables have the same columns but for a fifth, and are described alike.
func alike(a, b *schema.Table) bool {
	if pattern(a.Description) != pattern(b.Description) {
		return false
	}
	if len(a.Columns) == len(b.Columns) && slices.EqualFunc(a.Columns, b.Columns, func(a, b schema.Column) bool {
		return a.Name == b.Name
	}) {
		return true
	}
	known := make(map[string]bool, len(a.Columns))
	for i := range a.Columns {
		known[a.Columns[i].Name] = true
	}
	same := 0
	for i := range b.Columns {
		if known[b.Columns[i].Name] {
			same++
		}
	}
	all := len(a.Columns) + len(b.Columns)
	return all-2*same <= all/5
}

// read tells of the words of an entry. A family has those of its first member, and the others' names.
func (b *indexBuilder) read(e int, word func(e, field int, ids []int32)) {
	members := b.entries[e].members
	t := &b.schema.Tables[members[0]]
	word(e, fieldName, b.ofName(t.Name))
	word(e, fieldSchema, b.ofName(t.Schema))
	word(e, fieldText, b.ofText(t.Description))
	word(e, fieldText, b.ofText(b.said[int(members[0])]))
	for i := range t.Columns {
		c := &t.Columns[i]
		word(e, fieldColumn, b.ofName(c.Name))
		word(e, fieldColumn, b.ofText(c.Title))
		word(e, fieldColumnText, b.ofText(c.Description))
		word(e, fieldColumnText, b.ofText(c.Described))
	}
	if b.score == nil { // the lengths are those of one member
		for i := range t.Columns {
			if key := keyName(t.Columns[i].Name); key != "" {
				b.keys[key] = append(b.keys[key], int32(e))
				b.entries[e].keys = append(b.entries[e].keys, key)
			}
		}
	}
	for _, m := range members[1:] {
		for _, id := range b.idsOf(words.Stems(b.schema.Tables[m].Name)) {
			if b.score != nil && b.score[id] == 0 {
				word(e, fieldName, []int32{id})
			}
		}
	}
}

// keyName is the name of a column that tables may be joined by, without case; "": it is none.
func keyName(column string) string {
	name := words.LowerASCII(column)
	for _, end := range []string{"id", "key", "code"} {
		if len(name) > len(end) && strings.HasSuffix(name, end) {
			return name
		}
	}
	return ""
}

func (b *indexBuilder) measure(e, field int, ids []int32) {
	b.lengths[e][field] += int32(len(ids))
	b.mean[field] += float64(len(ids))
}

func (b *indexBuilder) weigh(e, field int, ids []int32) {
	for _, id := range ids {
		if b.score[id] == 0 {
			b.touched = append(b.touched, id)
		}
		b.score[id] += float32(fieldWeights[field] * b.mean[field] / float64(max(b.lengths[e][field], 1)))
		if field == fieldName {
			b.titled[id] += int32(len(b.entries[e].members))
		}
	}
}

// ofName returns the words of a name.
func (b *indexBuilder) ofName(name string) []int32 {
	ids, ok := b.stems[name]
	if !ok {
		ids = b.idsOf(words.Stems(name))
		b.stems[name] = ids
	}
	return ids
}

// ofText returns the words of a text.
func (b *indexBuilder) ofText(text string) []int32 {
	if text == "" {
		return nil
	}
	ids, ok := b.stems[text]
	if !ok {
		list := words.Of(text)
		for i, w := range list {
			list[i] = words.Stem(w)
		}
		ids = b.idsOf(list)
		b.stems[text] = ids
	}
	return ids
}

func (b *indexBuilder) idsOf(list []string) []int32 {
	ids := make([]int32, 0, len(list))
	for _, w := range list {
		if words.IsPlain(w) {
			continue
		}
		id, ok := b.ids[w]
		if !ok {
			id = int32(len(b.ids))
			b.ids[strings.Clone(w)] = id
		}
		ids = append(ids, id)
	}
	return ids
}

// profiled is the index of the same schema with other profiles.
func (x *Index) profiled(s *schema.Schema) *Index {
	y := *x
	y.schema = s
	y.texts = sync.OnceValue(func() snapshot.Words { return (*snapshot.Snapshot)(nil).Words(s) })
	return &y
}

// ranked is an entry with what it scores.
type ranked struct {
	entry int
	score float64
	found bool // it has a word of the question, or one that begins alike
}

// rank returns all entries, best first for the words asked, which are those of in, those that score alike in the order
// of the schema. found counts those that are found, none where no whole word is.
func (x *Index) rank(in Input, asked map[string]bool) (list []ranked, found int) {
	scores, hit := make([]float64, len(x.entries)), make([]bool, len(x.entries))
	best := make([]float64, len(x.entries)) // of one word
	var reached []int32
	direct := false // a whole word was found
	take := func(id int32, share float64) {
		for _, p := range x.postings[id] {
			if best[p.entry] == 0 {
				reached = append(reached, p.entry)
			}
			best[p.entry] = max(best[p.entry], share*float64(p.weight))
			hit[p.entry] = true
			direct = direct || share == 1
		}
	}
	own, holders := askedWords(Input{Question: in.Question}, false), x.holders(x.stored(in))
	for _, w := range sortedWords(asked) {
		if id, ok := x.ids[w]; ok {
			take(id, 1)
		}
		x.begun(w, func(id int32) { take(id, begunWeight) })
		for _, e := range holders[w] {
			if best[e] == 0 {
				reached = append(reached, e)
			}
			n := min(len(holders[w]), len(x.entries))
			best[e] = max(best[e], x.rarity(n)*saturated(fieldWeights[fieldColumn]))
			hit[e], direct = true, true
		}
		weight := 1.0
		if !own[w] {
			weight = evidenceWeight
		}
		for _, e := range reached {
			scores[e] += weight * best[e]
			best[e] = 0
		}
		reached = reached[:0]
	}
	for _, h := range hit {
		if h && direct {
			found++
		}
	}
	x.addKeys(scores)
	if x.history != nil {
		found += x.history.add(asked, scores, hit)
	}
	list = make([]ranked, 0, len(scores))
	for e, score := range scores {
		if score > 0 {
			list = append(list, ranked{e, score, hit[e]})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), a.entry-b.entry) })
	for e, score := range scores { // most tables of a large schema
		if score <= 0 {
			list = append(list, ranked{e, score, hit[e]})
		}
	}
	return list, found
}

func sortedWords(set map[string]bool) []string { // a fixed order: float sums depend on it
	list := make([]string, 0, len(set))
	for w := range set {
		list = append(list, w)
	}
	slices.Sort(list)
	return list
}

// begun tells of the words that begin with w, that w begins with, or that begin alike: ship, shipping and shipment.
func (x *names) begun(w string, take func(id int32)) {
	if len(w) < minPrefix || strings.Trim(w, "0123456789") == "" || !utf8.ValidString(w[:minPrefix]) {
		return
	}
	at, _ := slices.BinarySearch(x.words, w[:minPrefix])
	for ; at < len(x.words) && strings.HasPrefix(x.words[at], w[:minPrefix]); at++ {
		v := x.words[at]
		n := minPrefix
		for n < len(v) && n < len(w) && v[n] == w[n] {
			n++
		}
		switch {
		case v == w:
		case n == len(w): // v begins with w
			take(x.ids[v])
		case n == len(v) && len(w)-n <= 5, n > minPrefix && len(v)-n <= 3 && len(w)-n <= 3:
			take(x.ids[v])
		}
	}
}

// stored returns the stored texts that a question and its evidence name; nil where no value may be used.
func (x *Index) stored(in Input) []snapshot.Stored {
	asked := in.Question + "\n" + in.Evidence
	switch {
	case in.WithoutValues:
		return nil
	case in.Snapshot.HasTexts():
		return in.Snapshot.Words(in.Schema).Named(asked)
	}
	return x.texts().Named(asked)
}

// holders are the entries that hold stored texts, by the first word of a text.
func (x *Index) holders(stored []snapshot.Stored) map[string][]int32 {
	by := map[string][]int32{}
	for _, v := range stored {
		first := words.Stem(words.Of(v.Value)[0])
		if e, ok := x.entryOf[schema.TableName{Schema: v.Schema, Name: v.Table}]; ok {
			by[first] = append(by[first], e)
		}
	}
	return by
}

// addKeys adds to each table what those score that share a key with it, over the number of tables that have the key.
func (x *Index) addKeys(scores []float64) {
	var extra []float64
	for _, b := range bestOf(scores, bestEntries) {
		for _, key := range x.entries[b].keys {
			if len(x.keys[key]) > mostSharing {
				continue
			}
			for _, e := range x.keys[key] {
				if extra == nil {
					extra = make([]float64, len(scores))
				}
				if int(e) != b {
					extra[e] = max(extra[e], scores[b]/float64(len(x.keys[key])))
				}
			}
		}
	}
	for e := range extra {
		scores[e] += keyWeightShare * extra[e]
	}
}

// bestOf returns the places of the n highest scores above 0, the highest first.
func bestOf(scores []float64, n int) (places []int) {
	for i, score := range scores {
		if score <= 0 || len(places) == n && score <= scores[places[n-1]] {
			continue
		}
		at := slices.IndexFunc(places, func(j int) bool { return scores[j] < score })
		if at < 0 {
			at = len(places)
		}
		places = slices.Insert(places, at, i)
		places = places[:min(len(places), n)]
	}
	return places
}
