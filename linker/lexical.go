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
	"github.com/texttosql/texttosql/trace"
)

// noChoice is the code of the warning that more tables match a question equally well than Lexical may link.
const noChoice = "no-choice"

// Lexical links tables and columns whose words stand in the question.
//
// Names are split into words (camelCase, snake_case), both sides are stemmed, and only whole words match: "rate" does
// not match "separate", "42" matches "042". A word of a table's name scores 3, of a column's name or an example value 2,
// of a title or a description 1. Each question word counts once for a table, with its best score divided by the number
// of tables that it matches.
//
// No table is dropped for its place in the schema: those that tie for the last place are all linked, up to twice
// Tables. If they are more, words cannot choose, which is the warning "no-choice": then the better tables are linked, or
// all that tie where there is no better one. If no word matches, the whole schema is kept, with a note;
// of a follow-up, which has Input.Earlier, it then has no opinion. Lexical calls no
// model and runs no SQL. Safe for concurrent use.
type Lexical struct {
	Tables  int  // tables linked, best first, and those that tie with the last of them; 0 means 8
	Columns bool // link matching columns only; a table without a matching column keeps all
}

// Link scores every table. It fails only when ctx has ended.
func (l Lexical) Link(ctx context.Context, in Input) (schema.Links, error) {
	if err := ctx.Err(); err != nil {
		return schema.Links{}, err
	}
	asked := askedWords(in, false)
	scored := make([]scoredTable, len(in.Schema.Tables))
	matches := map[string]int{} // question word -> how many tables it matches
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
		if len(in.Earlier) > 0 {
			return schema.Links{Notes: []string{"no word of the question matches the schema: it is about what the answer before it reads"}}, nil
		}
		return schema.Links{Whole: true, Notes: []string{"no word of the question matches the schema: the whole schema is kept"}}, nil
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scored[b].score, scored[a].score) })
	var links schema.Links
	if most := cmp.Or(max(l.Tables, 0), 8); len(order) > most {
		tie := scored[order[most-1]].score
		better := slices.IndexFunc(order, func(i int) bool { return scored[i].score == tie })
		end := most // behind the last table that ties
		for end < len(order) && scored[order[end]].score == tie {
			end++
		}
		kept := end
		if end > 2*most {
			if better > 0 {
				kept = better
			}
			links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question equally well: words cannot choose among them", end-better))
			trace.From(ctx).Warn(noChoice, links.Notes[0])
		}
		links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question, the best %d are kept", len(order), kept))
		order = order[:kept]
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
	s.add(asked, words.OfName(t.Name), 3)
	s.add(asked, words.Of(t.Description), 1)
	for i := range t.Columns {
		c := &t.Columns[i]
		hit := s.add(asked, words.OfName(c.Name), 2)
		hit = s.add(asked, words.Of(c.Title), 1) || hit
		hit = s.add(asked, words.Of(c.Description), 1) || hit
		if c.Profile != nil && !withoutValues && !c.Sensitive {
			for _, v := range c.Profile.Examples {
				text, ok := v.(string)
				words := words.Of(text)
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

// add records which of the words named are asked for, and whether any is.
func (s *scoredTable) add(asked map[string]bool, named []string, score float64) bool {
	hit := false
	for _, w := range named {
		w = words.Stem(w)
		if asked[w] {
			s.words[w] = max(s.words[w], score)
			hit = true
		}
	}
	return hit
}

func all(named []string, asked map[string]bool) bool {
	return !slices.ContainsFunc(named, func(w string) bool { return !asked[words.Stem(w)] })
}
