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

// Lexical links tables and columns whose words are in the question, as the [Index] of the schema ranks them.
//
// Names are split into words (camelCase, snake_case). Both sides are stemmed, and whole words match: "rate" does not
// match "separate", "42" matches "042". If some word matches, words with the same beginning count half.
//
// Of a family of similar tables it links the one that the question names by a number or date, otherwise the last one,
// with a note. Tables that tie for the last place are all linked, up to twice Tables, so the order of the schema does
// not matter. If more tables tie, the warning "no-choice" is added. Then only the better tables are linked. If no
// table is better, the tied ones are linked; of more than 40 tied tables, the first ones.
//
// If no word matches, Lexical keeps the whole schema, with a note; of a schema with more than 40 tables, the first
// Tables. For a follow-up (Input.Earlier) Lexical then has no opinion. Lexical calls no model except Embedder and
// runs no SQL. Safe for concurrent use.
type Lexical struct {
	Tables  int  // tables to link, best first, plus ties with the last one; a family counts once; 0 means 8
	Columns bool // link matching columns only; a table without a matching column keeps all
	// Fill links Tables tables even if fewer have a word of the question. The others are the nearest to the best.
	Fill bool
	// Embedder also ranks tables by meaning, by the cosine with the question. The nearest table adds 0.4 of the best
	// word score, less if there are past statements. It embeds a text of up to 1,000 bytes per table (name,
	// description, columns; no values), once per snapshot. This happens in the first questions, and its calls count
	// in their budgets. The wait is limited as in memory.Vectors (5 s, and half of the question's time). After the
	// limit, or if the Embedder fails, only words link, with the warning "link-lexical". A memory.Vectors stores
	// vectors in a file; see Prepare. nil: words only.
	Embedder memory.Embedder
}

// Link ranks the tables. It fails only without a schema, or if ctx has ended.
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
			return schema.Links{Notes: []string{"no word of the question matches the schema: " +
				"it is about what the answer before it reads"}}, nil
		}
		if len(all) <= max(askedTables, most) {
			return schema.Links{Whole: true,
				Notes: []string{"no word of the question matches the schema: the whole schema is kept"}}, nil
		}
		links.Notes = append(links.Notes, fmt.Sprintf("no word of the question matches the schema: %d tables of %d are kept",
			most, len(all)))
		trace.FromContext(ctx).Warn(noChoice, links.Notes[0])
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
			links.Notes = append(links.Notes,
				fmt.Sprintf("%d tables match words of the question equally well: words cannot choose among them", end-better))
			trace.FromContext(ctx).Warn(noChoice, links.Notes[0])
		}
		links.Notes = append(links.Notes, fmt.Sprintf("%d tables match words of the question, the best %d are kept", found,
			kept))
		order = order[:kept]
	}
	numbers, stored := askedNumbers(in), x.stored(in)
	for _, r := range order {
		places, note := x.choose(r.entry, numbers)
		if note != "" {
			links.Notes = append(links.Notes, note)
		}
		for _, i := range places {
			t := &in.Schema.Tables[i]
			link := schema.TableLink{Schema: t.Schema, Table: t.Name, Score: math.Round(r.score*1000) / 1000}
			hit := matchTable(t, asked, stored)
			if link.Values = hit.values; l.Columns {
				link.Columns = hit.columns
			}
			links.Tables = append(links.Tables, link)
		}
	}
	return links, nil
}
