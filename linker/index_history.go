package linker

import (
	"math"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/sqltext"
)

// What a table gets for what was asked before, beside 1 for the words of the best one; chosen as those of BM25F.
const (
	answersWeight = 12.0 // the share of past statements with the words of the question that read it
	besideWeight  = 1.0  // the share of past statements that read one of the best and it
	fewWords      = 2    // past statements that all words have beside their own, read as all are
	fewStatements = 100  // past statements at which these two count half
	bestBeside    = 4    // tables whose usual neighbours are added
)

// history counts what past statements read. An answer of n statements is kept as counts, whatever their number.
type history struct {
	n      float64
	words  map[string]map[int32]float64 // statements by word of the question and entry; -1: all
	pairs  map[int32]map[int32]float64  // statements that read two entries; of one entry twice: all that read it
	before *history                     // counts that belong to it, and that other indexes may have too
}

// WithHistory returns the Index with statements that were run before, in addition to those that it has. They show
// which tables answer which words, which tables are used often, and which are read together. Exemplar.Question has
// the words for a statement (a question, a title, a comment). If it is empty, the literals in the statement replace
// it. The names in a statement are read from its text; those that the schema does not have are left out. A thousand
// statements take some milliseconds.
func (x *Index) WithHistory(past []memory.Exemplar) *Index {
	h := &history{words: map[string]map[int32]float64{}, pairs: map[int32]map[int32]float64{}, before: x.history}
	byName := map[string][]int32{}
	for e := range x.entries {
		for _, i := range x.entries[e].members {
			name := strings.ToLower(x.schema.Tables[i].Name)
			byName[name] = append(byName[name], int32(e))
		}
	}
	for _, p := range past {
		statement := sqltext.Dialect{}.Parse(p.SQL[:min(len(p.SQL), sqlshape.MaxStatement)])
		var entries []int32
		for _, ref := range statement.Tables() {
			if !ref.Base() {
				continue
			}
			for _, e := range byName[strings.ToLower(ref.Name)] {
				t := &x.schema.Tables[x.entries[e].members[0]]
				if (ref.Schema == "" || t.Schema == "" || strings.EqualFold(ref.Schema, t.Schema)) && !slices.Contains(entries, e) {
					entries = append(entries, e)
				}
			}
		}
		if len(entries) > 0 {
			h.learn(p, entries)
		}
	}
	y := *x
	y.history = h
	return &y
}

func (h *history) learn(p memory.Exemplar, entries []int32) {
	h.n++
	text := p.Question
	if words.Line(text) == "" {
		text = p.SQL
	}
	for w := range askedWords(Input{Question: text}, false) {
		if h.words[w] == nil {
			w = strings.Clone(w)
			h.words[w] = map[int32]float64{}
		}
		h.words[w][-1]++
		for _, e := range entries {
			h.words[w][e]++
		}
	}
	for _, e := range entries {
		for _, other := range entries {
			if h.pairs[e] == nil {
				h.pairs[e] = map[int32]float64{}
			}
			h.pairs[e][other]++
		}
	}
}

// size is the number of statements.
func (h *history) size() (n float64) {
	for ; h != nil; h = h.before {
		n += h.n
	}
	return n
}

// add adds to the scores what was read for the words asked, and marks those tables. It returns how many it marked.
func (h *history) add(asked map[string]bool, scores []float64, hit []bool) (found int) {
	if top := slices.Max(append([]float64{0}, scores...)); top > 0 {
		for e := range scores {
			scores[e] /= top
		}
	}
	// counts are whole numbers: no order matters to their sums
	layers, n, read := []*history(nil), 0.0, make([]float64, len(scores))
	for l := h; l != nil; l = l.before {
		layers, n = append(layers, l), n+l.n
		for e, with := range l.pairs {
			read[e] += with[e]
		}
	}
	answers, all := make([]float64, len(scores)), 0.0
	for _, w := range sortedWords(asked) {
		counts := map[int32]float64{}
		for _, l := range layers {
			for e, count := range l.words[w] {
				counts[e] += count
			}
		}
		with := counts[-1]
		if with == 0 {
			continue
		}
		rare := math.Log(1 + (n-with+.5)/(with+.5))
		all += rare
		for e, reads := range read {
			if reads > 0 {
				answers[e] += rare * (counts[int32(e)] + fewWords*reads/n) / (with + fewWords)
			}
		}
	}
	known := n / (n + fewStatements)
	for e, reads := range read {
		if all > 0 {
			scores[e] += known * answersWeight * answers[e] / all
		}
		if reads > 0 && all > 0 && !hit[e] {
			hit[e] = true
			found++
		}
	}
	beside := map[int32]float64{}
	for _, b := range bestOf(scores, bestBeside) {
		together := map[int32]float64{}
		for _, l := range layers {
			for e, count := range l.pairs[int32(b)] {
				together[e] += count
			}
		}
		for e, count := range together {
			if int(e) != b {
				beside[e] = max(beside[e], count/(read[b]+1))
			}
		}
	}
	for e, share := range beside {
		scores[e] += known * besideWeight * share
	}
	return found
}
