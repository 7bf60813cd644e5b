package web

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/meaning"
	"github.com/texttosql/texttosql/schema"
)

// How many questions are made of a schema.
const (
	maxSuggested = 5
	fewSuggested = 4 // with fewer, lookup tables are asked about too
)

var (
	quantity = regexp.MustCompile(`(?i)(amount|total|price|cost|revenue|sales|quantity|qty|salary|value|population|score|rating|budget|balance|payment)`)
	sorts    = regexp.MustCompile(`(?i)^(status|state|type|kind|category|country|region|city|town|genre|gender|department|segment|channel|priority|language)$`)
	dated    = regexp.MustCompile(`(?i)(^|_)(date|day|month|year|time|at|on)$|date|_at$`)
	called   = regexp.MustCompile(`(?i)^(name|title|label|full_?name|.*_name|.*_title)$`)
	numbers  = regexp.MustCompile(`(?i)int|num|dec|real|double|float|money`)
)

// suggested makes questions of names and keys alone: no model is asked, and no row is read. Tables that others refer to,
// and that refer to others, come first.
func suggested(s *schema.Schema) (all []string) {
	linked := map[string]int{}
	for _, t := range s.Tables {
		for _, f := range t.ForeignKeys {
			linked[f.RefTable]++
			linked[t.Name]++
		}
	}
	tables := slices.Clone(s.Tables)
	slices.SortStableFunc(tables, func(a, b schema.Table) int { return cmp.Compare(linked[b.Name], linked[a.Name]) })
	add := func(question string) bool {
		question = visible(strings.Join(strings.Fields(question), " "))
		if len(all) == maxSuggested || slices.Contains(all, question) || len(question) > 120 {
			return false
		}
		all = append(all, question)
		return true
	}
	kinds := []func(t schema.Table) bool{
		func(t schema.Table) bool { return mostOf(tables, t, add) },
		func(t schema.Table) bool { // over time
			amount, at := column(t, quantity, numbers), column(t, dated, nil)
			many, sure := meaning.Plural(t.Name)
			return sure && amount != "" && at != "" && add("What is the total "+strings.TrimPrefix(said(amount), "total")+" of "+many+" by month?")
		},
		func(t schema.Table) bool { // by a category
			by := column(t, sorts, nil)
			many, sure := meaning.Plural(t.Name)
			return sure && by != "" && said(by) != many && add("How many "+many+" are there for each "+said(by)+"?")
		},
		func(t schema.Table) bool { // the largest
			amount, name := column(t, quantity, numbers), column(t, called, nil)
			many, sure := meaning.Plural(t.Name)
			return sure && amount != "" && name != "" && add("Which 10 "+many+" have the highest "+said(amount)+"?")
		},
		func(t schema.Table) bool { return add(howMany(t)) },
	}
	subjects := slices.DeleteFunc(slices.Clone(tables), func(t schema.Table) bool { return lookup(t) || linking(t) })
	for _, make := range kinds { // one of each kind, then more of the first ones
		_ = slices.ContainsFunc(subjects, make)
	}
	for _, make := range kinds[1:] {
		for _, t := range subjects {
			make(t)
		}
	}
	for _, t := range tables { // lookup tables too, where there is little else
		if len(all) < fewSuggested && !linking(t) {
			add(howMany(t))
		}
	}
	return all
}

// mostOf asks which rows of another table have the most of t.
func mostOf(tables []schema.Table, t schema.Table, add func(string) bool) bool {
	for _, f := range t.ForeignKeys {
		i := slices.IndexFunc(tables, func(o schema.Table) bool { return o.Name == f.RefTable && o.Name != t.Name })
		if i < 0 || column(tables[i], called, nil) == "" {
			continue
		}
		owners, sure := meaning.Plural(f.RefTable)
		many, also := meaning.Plural(t.Name)
		if sure && also && add("Which 10 "+owners+" have the most "+many+"?") {
			return true
		}
	}
	return false
}

// howMany counts a table, whose name may have no sure plural.
func howMany(t schema.Table) string {
	many, sure := meaning.Plural(t.Name)
	if !sure {
		return "How many rows does " + many + " have?"
	}
	return "How many " + many + " are there?"
}

// lookup reports whether a table only names what others refer to: a key and a name.
func lookup(t schema.Table) bool { return len(t.Columns) <= 2 && len(t.ForeignKeys) == 0 }

// linking reports whether a table only connects others: all of its columns are keys.
func linking(t schema.Table) bool {
	keys := 0
	for _, f := range t.ForeignKeys {
		keys += len(f.Columns)
	}
	return keys > 1 && len(t.Columns) <= keys+1
}

// column is the first column of a table with such a name and such a type, "" for none. Keys and what is held back are none.
func column(t schema.Table, name, kind *regexp.Regexp) string {
	for _, c := range t.Columns {
		if name.MatchString(c.Name) && !identifies(c.Name) && !c.Sensitive && (kind == nil || kind.MatchString(c.Type)) {
			return c.Name
		}
	}
	return ""
}

// said is the name of a column in words.
func said(name string) string { return strings.Join(words.OfName(name), " ") }

// start gives questions to begin with: those that were confirmed and those that the schema suggests.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Confirmed []string `json:"confirmed"` // questions, the latest first
		Suggested []string `json:"suggested"`
	}{[]string{}, []string{}}
	if pairs, err := s.Confirmed.PairsOf(s.Engine.ScopeKey()); err == nil {
		for _, p := range slices.Backward(pairs) {
			if len(out.Confirmed) < maxOffered {
				out.Confirmed = append(out.Confirmed, visible(p.Question))
			}
		}
	}
	if known, err := s.Engine.Schema(r.Context()); err == nil { // where not, asking tells why
		out.Suggested = append(out.Suggested, suggested(known)...)
	}
	answer(w, http.StatusOK, out)
}

// sampled is how many rows of a table the page shows, and counting how long its rows may be counted.
const (
	sampled  = 5
	counting = 2 * time.Second
)

// sample gives the number of rows of a table and some of them, without what looks like a secret.
func (s *Server) sample(w http.ResponseWriter, r *http.Request) {
	known, err := s.Engine.Schema(r.Context())
	if err != nil {
		s.refuse(w, err)
		return
	}
	i := slices.IndexFunc(known.Tables, func(t schema.Table) bool { return visible(t.TableName().String()) == r.URL.Query().Get("table") })
	if i < 0 || s.DB == nil {
		answer(w, http.StatusNotFound, problem{"missing", "there is no such table"})
		return
	}
	t := known.Tables[i]
	out := struct {
		Count string `json:"count"` // "": it takes too long
		Rows  *table `json:"rows,omitempty"`
	}{}
	if rows, err := s.DB.Sample(r.Context(), t, exec.SampleOptions{Rows: sampled}); err == nil {
		out.Rows = tabled(rows)
		if !rows.Truncated {
			out.Count = counted(len(rows.Rows), "row")
		}
	}
	if out.Count == "" {
		out.Count = s.counted(r.Context(), t)
	}
	answer(w, http.StatusOK, out)
}

// counted counts the rows of a table, unless that takes long.
func (s *Server) counted(ctx context.Context, t schema.Table) string {
	ctx, cancel := context.WithTimeout(ctx, counting)
	defer cancel()
	language := s.DB.Language()
	name := language.Quote(t.Name)
	if t.Schema != "" {
		name = language.QuoteSchema(t.Schema) + "." + name
	}
	rows, err := s.DB.QueryWithin(ctx, "SELECT count(*) FROM "+name, exec.Bounds{Rows: 1})
	if err != nil || rows == nil || len(rows.Rows) != 1 {
		return ""
	}
	n, ok := rows.Rows[0][0].(int64)
	if !ok {
		return ""
	}
	return counted(int(n), "row")
}
