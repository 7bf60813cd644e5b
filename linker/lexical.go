package linker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Lexical links tables and columns whose words stand in the question.
//
// A name is split into its words (camelCase, snake_case), both sides are
// stemmed, and only whole words match: "rate" does not match "separate". A
// word of a table's name scores 3, of a column's name 2, of a title or a
// description 1, of an example value 2; each question word counts for a table
// once, with its best score, divided by the number of tables it matches, so
// that a word on every table says little. A table is linked with all its
// columns, or with those that matched when Columns is set.
//
// A question in which no word matches anything (another language, say) is
// linked to the whole schema, with a note. Tables with equal scores keep the
// order of the schema.
//
// It calls no model and runs no SQL. Safe for concurrent use.
type Lexical struct {
	Tables  int  // tables linked at most, best first; 0 means 8
	Columns bool // link matching columns only; a table without one keeps all
}

// Link scores every table. It fails only when ctx has ended.
func (l Lexical) Link(ctx context.Context, in Input) (schema.Links, error) {
	if err := ctx.Err(); err != nil {
		return schema.Links{}, err
	}
	asked := map[string]bool{}
	for _, w := range sqltext.Words(in.Question + " " + in.Evidence) {
		if !stopWords[w] {
			asked[sqltext.Stem(w)] = true
		}
	}
	scored := make([]scoredTable, len(in.Schema.Tables))
	matches := map[string]int{} // question word -> tables it matches
	for i := range in.Schema.Tables {
		t := &in.Schema.Tables[i]
		scored[i] = l.match(t, asked, in.WithoutValues)
		for w := range scored[i].words {
			matches[w]++
		}
	}
	for i := range scored {
		for _, w := range slices.Sorted(maps.Keys(scored[i].words)) { // a fixed order: float sums depend on it
			scored[i].score += scored[i].words[w] / float64(matches[w])
		}
	}
	order := make([]int, 0, len(scored))
	for i := range scored {
		if scored[i].score > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return schema.Links{Whole: true, Notes: []string{"no word of the question matches the schema: the whole schema is kept"}}, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scored[b].score, scored[a].score) })
	most := l.Tables
	if most <= 0 {
		most = 8
	}
	var links schema.Links
	if len(order) > most {
		links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question, the best %d are kept", len(order), most))
		order = order[:most]
	}
	for _, i := range order {
		t := &in.Schema.Tables[i]
		link := schema.TableLink{Schema: t.Schema, Table: t.Name, Score: scored[i].score, Values: scored[i].values}
		if l.Columns {
			link.Columns = scored[i].columns
		}
		links.Tables = append(links.Tables, link)
	}
	return links, nil
}

// scoredTable is what the words of a question found in one table.
type scoredTable struct {
	words   map[string]float64 // matched word -> its best score
	columns []string
	values  []schema.ValueMatch
	score   float64
}

func (l Lexical) match(t *schema.Table, asked map[string]bool, withoutValues bool) scoredTable {
	s := scoredTable{words: map[string]float64{}}
	s.add(asked, sqltext.SplitName(t.Name), 3)
	s.add(asked, sqltext.Words(t.Description), 1)
	for i := range t.Columns {
		c := &t.Columns[i]
		hit := s.add(asked, sqltext.SplitName(c.Name), 2)
		hit = s.add(asked, sqltext.Words(c.Title), 1) || hit
		hit = s.add(asked, sqltext.Words(c.Description), 1) || hit
		if c.Profile != nil && !withoutValues && !c.Sensitive {
			for _, v := range c.Profile.Examples {
				text, ok := v.(string)
				words := sqltext.Words(text)
				if !ok || len(words) == 0 || !all(words, asked) {
					continue
				}
				s.add(asked, words, 2)
				s.values = append(s.values, schema.ValueMatch{Column: c.Name, Value: v, Span: strings.Join(words, " ")})
				hit = true
			}
		}
		if hit {
			s.columns = append(s.columns, c.Name)
		}
	}
	return s
}

// add records which of words are asked for, and whether any is.
func (s *scoredTable) add(asked map[string]bool, words []string, score float64) bool {
	hit := false
	for _, w := range words {
		w = sqltext.Stem(w)
		if asked[w] {
			s.words[w] = max(s.words[w], score)
			hit = true
		}
	}
	return hit
}

func all(words []string, asked map[string]bool) bool {
	for _, w := range words {
		if !asked[sqltext.Stem(w)] {
			return false
		}
	}
	return true
}

// stopWords are the English words that name nothing in a schema.
var stopWords = wordSet(`a an the of for to in on at by with from and or not no is are was were be been do does did has have had
	what which who whom whose when where how many much that this these those there their its it as all any each every
	list show give find get tell return display please me us i you we can could would should`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
