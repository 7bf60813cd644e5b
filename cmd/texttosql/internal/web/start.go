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
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// How many questions are made of a schema.
const maxSuggested = 5

var (
	quantity = regexp.MustCompile(
		`(?i)(amount|total|price|cost|revenue|sales|quantity|qty|salary|value|population|score|rating|budget|balance|payment)`)
	sorts = regexp.MustCompile(
		`(?i)^(status|state|type|kind|category|country|region|city|town|genre|gender|department|segment|channel|priority|language)$`)
	dated   = regexp.MustCompile(`(?i)(^|_)(date|day|month|year|time|at|on)$|date|_at$`)
	called  = regexp.MustCompile(`(?i)^(name|title|label|full_?name|.*_name|.*_title)$`)
	numbers = regexp.MustCompile(`(?i)int|num|dec|real|double|float|money`)
	adds    = regexp.MustCompile(
		`(?i)(amount|total|cost|revenue|sales|quantity|qty|payment|fee|hours|minutes|seconds|weight|distance)$`)
	each   = regexp.MustCompile(`(?i)(^|_)(unit|avg|average|per|max|min)`)
	states = regexp.MustCompile(
		`\b(birth|born|dob|updated?|modified|changed|deleted|expir\w*|valid|due|until|last|hired?|since|joined|registered|start|end|` +
			`founded|built|released?|published?|died|death|retired|year|month)\b`)
	listing = regexp.MustCompile(`(?i)^(lkp|lookup|lu|ref)_|_(lkp|lookup|types?)$`)
	stamps  = regexp.MustCompile(`\b(last|updated?|modified|changed|created)\b`) // of the row, not of what it is about
	naming  = regexp.MustCompile(
		`(?i)(id|code|key|name|label|title|desc|description|sort|order|position|abbreviation|symbol)$`)
)

// suggested makes questions of names and keys alone: no model is asked, and no row is read. Tables that others refer
// to, and that refer to others, come first. A lookup table has no question of its own.
func suggested(s *schema.Schema) (all []string) {
	linked := map[string]int{}
	for _, t := range s.Tables {
		for _, f := range t.ForeignKeys {
			linked[f.RefTable]++
			linked[t.Name]++
		}
		for _, c := range t.Columns { // where keys are not declared, names tell
			if owner := ownerOf(s, c); owner != "" && owner != t.Name && len(t.ForeignKeys) == 0 {
				linked[owner]++
			}
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
		func(t schema.Table) bool { return mostOf(tables, t, linked, add) },
		func(t schema.Table) bool { // over time
			amount, at := column(t, adds, numbers), event(t)
			if each.MatchString(amount) {
				amount = ""
			}
			many, sure := summary.Plural(t.Name)
			return sure && amount != "" && at != "" && add("What is the total "+strings.TrimPrefix(said(amount), "total")+" of "+
				many+" by month?")
		},
		func(t schema.Table) bool { // by a category
			by := column(t, sorts, nil)
			many, sure := summary.Plural(t.Name)
			return sure && by != "" && said(by) != many && add("How many "+many+" are there for each "+said(by)+"?")
		},
		func(t schema.Table) bool { // the largest
			amount, name := column(t, quantity, numbers), column(t, called, nil)
			many, sure := summary.Plural(t.Name)
			return sure && amount != "" && name != "" && add("Which 10 "+many+" have the highest "+said(amount)+"?")
		},
		func(t schema.Table) bool { return add(howMany(t)) },
	}
	subjects := slices.DeleteFunc(slices.Clone(tables), func(t schema.Table) bool {
		return lookup(t, linked) || linking(t)
	})
	for _, make := range kinds { // one of each kind, then more of the first ones
		_ = slices.ContainsFunc(subjects, make)
	}
	for _, make := range kinds[1:] {
		for _, t := range subjects {
			make(t)
		}
	}
	return all
}

// ownerOf is the table that the name of a column says it refers to, "" for none: genre_id, genres or genre.
func ownerOf(s *schema.Schema, c schema.Column) string {
	name, isKey := strings.CutSuffix(strings.ToLower(c.Name), "_id")
	for _, t := range s.Tables {
		if one, _ := summary.Singular(t.Name); isKey && (strings.EqualFold(one, strings.ReplaceAll(name, "_", " ")) ||
			strings.EqualFold(t.Name, name)) {
			return t.Name
		}
	}
	return ""
}

// mostOf asks which rows of another table have the most of t.
// Of a lookup table it asks how many each of them has.
func mostOf(tables []schema.Table, t schema.Table, linked map[string]int, add func(string) bool) bool {
	for _, f := range t.ForeignKeys {
		i := slices.IndexFunc(tables, func(o schema.Table) bool { return o.Name == f.RefTable && o.Name != t.Name })
		if i < 0 || column(tables[i], called, nil) == "" {
			continue
		}
		owners, sure := summary.Plural(f.RefTable)
		many, also := summary.Plural(t.Name)
		question := "Which 10 " + owners + " have the most " + many + "?"
		if one, _ := summary.Singular(f.RefTable); lookup(tables[i], linked) {
			question = "How many " + many + " are there for each " + one + "?"
		}
		if sure && also && add(question) {
			return true
		}
	}
	return false
}

// howMany counts a table, whose name may have no sure plural.
func howMany(t schema.Table) string {
	many, sure := summary.Plural(t.Name)
	if !sure {
		return "How many entries does " + many + " have?"
	}
	return "How many " + many + " are there?"
}

// lookup reports whether a table only names what others refer to: it has a key and a name, or a code and texts about
// it, and perhaps the time of its last change.
func lookup(t schema.Table, linked map[string]int) bool {
	says := func(c schema.Column) bool {
		return !naming.MatchString(c.Name) && !stamps.MatchString(said(c.Name)) && !strings.EqualFold(c.Name, t.Name)
	}
	small := len(t.Columns) <= 2 || !slices.ContainsFunc(t.Columns, says)
	return len(t.ForeignKeys) == 0 && (listing.MatchString(t.Name) || small && linked[t.Name] > 0)
}

// event is the column that says when the rows of a table happened, "" for rows that are things: products, employees.
func event(t schema.Table) string {
	for _, c := range t.Columns {
		name := strings.Join(words.OfName(c.Name), " ")
		thing := states.MatchString(name) || strings.HasPrefix(name, "created") && len(t.ForeignKeys) == 0
		if dated.MatchString(c.Name) && !thing && !identifies(c.Name) && !c.Sensitive {
			return c.Name
		}
	}
	return ""
}

// linking reports whether a table only connects others: all of its columns are keys.
func linking(t schema.Table) bool {
	keys := 0
	for _, f := range t.ForeignKeys {
		keys += len(f.Columns)
	}
	return keys > 1 && len(t.Columns) <= keys+1
}

// column is the first column of a table with such a name and such a type, "" for none. Keys and what is held back are
// none.
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

// maxLast is how many of the answers that were asked last the first page shows.
const maxLast = 3

// start gives what a person begins with: questions that the schema suggests, and the last answers.
func (s *Server) start(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Suggested []string `json:"suggested"`
		Last      []card   `json:"last"`
		Billed    bool     `json:"billed,omitempty"` // as of the saved answers
	}{[]string{}, s.last(r.Context()), s.billed()}
	if known, err := s.Engine.Schema(r.Context()); err == nil { // where not, asking tells why
		out.Suggested = append(out.Suggested, suggested(known)...)
	}
	answer(w, http.StatusOK, out)
}

// last are the answers that were asked last, one a conversation, with the figures of those whose rows are in memory.
func (s *Server) last(ctx context.Context) []card {
	cards := []card{}
	// a conversation that cannot be read is shown in the list
	all, _ := s.Store.List(ctx, session.Filter{Limit: 4 * maxLast})
	for _, one := range all {
		rec, err := s.Store.Load(ctx, one.ID)
		if err != nil || len(cards) == maxLast {
			continue
		}
		c := s.view(rec)
		// statements of the person follow the answer
		i := slices.IndexFunc(c.Turns, func(t turn) bool { return t.Own != nil })
		if i < 0 {
			i = len(c.Turns)
		}
		if i--; i < 0 || c.State != answered || c.Turns[i].Answer == nil {
			continue
		}
		t := c.Turns[i]
		next := card{ID: one.ID, Place: t.Place, Question: c.Title, At: &one.Updated, Closing: t.Answer.Closing}
		if t.Kind == dialogue.TurnFollowUp {
			next.Question += " · " + t.Text
		}
		if known := s.seen.get(memoKey{one.ID, t.Place}); known != nil && known.all != nil {
			next.ran = s.figure(t.Answer.SQL, known.all, one.Updated)
		}
		cards = append(cards, next)
	}
	return cards
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
	i := slices.IndexFunc(known.Tables, func(t schema.Table) bool {
		return visible(t.TableName().String()) == r.URL.Query().Get("table")
	})
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
	name := t.TableName().Quoted(s.DB.Language())
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
