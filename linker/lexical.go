package linker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// noChoice is the code of the warning that more tables match a question equally well than Lexical may link.
const noChoice = "no-choice"

// Lexical links tables and columns whose words stand in the question, as the [Index] of the schema ranks them.
//
// Names are split into words (camelCase, snake_case), both sides are stemmed, and whole words match: "rate" does
// not match "separate", "42" matches "042". Where some word matches, those that begin alike count half.
//
// Of a family of tables alike the one is linked that the question's numbers and dates name, else the last, with a note.
// No table is dropped for its place in the schema: those that tie for the last place are all linked, up to twice
// Tables. If they are more, words cannot choose, which is the warning "no-choice": then the better tables are linked, or
// where there is no better one those that tie, of over 40 the first. If no word matches, the whole schema is kept, with a note, or the first Tables
// of a schema of over 40 tables;
// of a follow-up, which has Input.Earlier, it then has no opinion. Lexical calls no
// model but Embedder and runs no SQL. Safe for concurrent use.
type Lexical struct {
	Tables  int  // tables linked, best first, and those that tie with the last of them; a family counts once; 0 means 8
	Columns bool // link matching columns only; a table without a matching column keeps all
	// Fill links Tables tables even where fewer have a word of the question: the rest are those closest to the best.
	Fill bool
	// Embedder adds how close tables are to the question in meaning: by cosines, 0.4 of the best by words for the closest,
	// less where there are past statements. It gets a text of up to 1,000 bytes a table (name, description, columns; no values), once a snapshot, in the
	// first questions, whose budget its calls count in. A question waits as memory.Vectors says (5 s, and half of its time), then
	// words alone link, as where it fails, with the warning "link-lexical". A memory.Vectors keeps vectors in a file; see Prepare.
	// nil: words alone.
	Embedder memory.Embedder
}

// Link ranks the tables. It fails only without a schema, and when ctx has ended.
func (l Lexical) Link(ctx context.Context, in Input) (schema.Links, error) {
	if err := cmp.Or(in.needs("Lexical"), ctx.Err()); err != nil {
		return schema.Links{}, err
	}
	x := in.index()
	asked := askedWords(in, false)
	all, found, err := x.best(ctx, in, asked, l.Embedder)
	if err != nil {
		return schema.Links{}, err
	}
	most := cmp.Or(max(l.Tables, 0), 8)
	var links schema.Links
	if found == 0 {
		if len(in.Earlier) > 0 {
			return schema.Links{Notes: []string{"no word of the question matches the schema: it is about what the answer before it reads"}}, nil
		}
		if len(all) <= askedTables {
			return schema.Links{Whole: true, Notes: []string{"no word of the question matches the schema: the whole schema is kept"}}, nil
		}
		links.Notes = append(links.Notes, fmt.Sprintf("no word of the question matches the schema: %d tables of %d are kept", most, len(all)))
		trace.From(ctx).Warn(noChoice, links.Notes[0])
		all = all[:most]
	}
	order := all
	if !l.Fill && found > 0 {
		order = slices.DeleteFunc(order, func(r ranked) bool { return !r.found })
	}
	if l.Fill {
		order = order[:min(len(order), most)]
	}
	if len(order) > most {
		tied := func(r ranked) bool { return math.Abs(r.score-order[most-1].score) < 1e-9 }
		better := slices.IndexFunc(order, tied)
		end := most // behind the last table that ties
		for end < len(order) && tied(order[end]) {
			end++
		}
		kept := end
		if end > 2*most {
			if kept = better; better == 0 {
				kept = min(end, max(2*most, askedTables))
			}
			links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question equally well: words cannot choose among them", end-better))
			trace.From(ctx).Warn(noChoice, links.Notes[0])
		}
		links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question, the best %d are kept", found, kept))
		order = order[:kept]
	}
	numbers := askedNumbers(in)
	for _, r := range order {
		places, note := x.choose(r.entry, numbers)
		if note != "" {
			links.Notes = append(links.Notes, note)
		}
		for _, i := range places {
			t := &in.Schema.Tables[i]
			link := schema.TableLink{Schema: t.Schema, Table: t.Name, Score: math.Round(r.score*1000) / 1000}
			hit := matchTable(t, asked, in.WithoutValues)
			if link.Values = hit.values; l.Columns {
				link.Columns = hit.columns
			}
			links.Tables = append(links.Tables, link)
		}
	}
	return links, nil
}
