package session

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/schema"
)

// join reads the forms of a join.
func (p *parser) join() (Correction, int, error) {
	if m := shared.FindStringSubmatchIndex(p.line); m != nil {
		a, b := p.item(p.line[m[2]:m[3]]), p.item(p.line[m[4]:m[5]])
		at, _ := slices.BinarySearch(p.starts, m[6])
		if parts := p.tokens[p.items[at].from].parts; len(parts) == 1 {
			return p.joined(schema.ColumnName{Table: *a.table, Column: parts[0]}, schema.ColumnName{Table: *b.table, Column: parts[0]}, p.behind(m[1]))
		}
	}
	m := joins.FindStringSubmatch(p.line)
	if m == nil || questions[p.word(0)] {
		return Correction{}, 0, nil
	}
	if words := strings.Fields(m[1]); len(m[3]) > 1 && slices.Contains([]string{"with", "to", "and", "on"}, m[3]) && !slices.ContainsFunc(words, func(w string) bool { return tying[w] }) {
		return Correction{}, 0, nil
	}
	sides := [2]schema.ColumnName{}
	for i, name := range []string{m[2], m[4]} {
		sides[i] = columnOf(p.tokens[p.item(name).from].parts)
	}
	return p.joined(sides[0], sides[1], p.behind(len(m[0])))
}

// joined is the join of two columns that ends at end. Names that are unknown are an error if nothing else is said.
func (p *parser) joined(left, right schema.ColumnName, end int) (Correction, int, error) {
	for at := end; purpose[p.word(at)]; at++ {
		if p.is(at, "join") {
			end = at + 1
		}
	}
	a, err := column(p.schema, left)
	b, err2 := column(p.schema, right)
	if err == nil {
		err = err2
	}
	if err == nil && a.Table == b.Table {
		return Correction{}, 0, nil
	}
	return p.complete(Correction{Kind: CorrectJoin, Join: &schema.Join{Left: left, Right: right}}, end, err)
}

// whole is c, which ends at end, unless what follows turns it around. err is that of its names: an error if nothing else is said.
func (p *parser) complete(c Correction, end int, err error) (Correction, int, error) {
	switch {
	case err != nil && p.end(end):
		return Correction{}, 0, err
	case err != nil || !p.follows(end, true, func(w string) bool { return following[w] }):
		return Correction{}, 0, nil
	}
	return c, end, nil
}

// column reads the forms of a column.
func (p *parser) column() (Correction, int, error) {
	for _, form := range meanings {
		m := form.FindStringSubmatchIndex(p.line)
		if m == nil {
			continue
		}
		end, kind, from, to := p.behind(m[1]), "", 0, 0
		for i, name := range form.SubexpNames() {
			if name != "" && name != "column" {
				kind, from, to = name, m[2*i], m[2*i+1]
			}
		}
		first, _ := slices.BinarySearch(p.starts, from)
		start, stop := p.items[first].from, p.behind(to+1)
		if kind == "last" {
			for stop = start; !p.end(stop) && p.tokens[stop].parts != nil && !reasons[p.word(stop)]; stop++ {
			}
			end = stop
		}
		if term, ok := p.term(start, stop, kind == "short"); ok {
			c := 2 * form.SubexpIndex("column")
			name, err := column(p.schema, columnOf(p.tokens[p.item(p.line[m[c]:m[c+1]]).from].parts))
			return p.complete(Correction{Kind: CorrectColumn, Term: term, Column: name}, end, err)
		}
	}
	return Correction{}, 0, nil
}

// term is the user's word in tokens[from:to]. short: no verb says that it is one.
func (p *parser) term(from, to int, short bool) (string, bool) {
	for to-from > 1 && p.is(from, "the", "a", "an", "word", "words", "term", "name", "expression", "my", "please") {
		from++
	}
	if from >= to || to-from > 6 || short && to-from > 3 {
		return "", false
	}
	for k := from; k < to; k++ {
		w := p.word(k)
		if p.tokens[k].parts == nil || p.dotted(k) || refusing[w] || turning[w] || pronouns[w] || strings.HasSuffix(w, "n't") || short && (nouns[w] || questions[w]) {
			return "", false
		}
	}
	if to-from == 1 && p.tokens[from].quoted && len(p.tokens[from].parts) == 1 {
		return p.tokens[from].parts[0], true
	}
	return p.text[p.tokens[from].from:p.tokens[to-1].to], true
}

// tableRead is one part as it was read.
type tableRead struct {
	tablePart
	yes, no []int // items
	text    string
	bare    bool // nothing but names
	led     bool // it has a verb
	sure    bool // it says that they are tables
}

// table reads the forms of tables: parts that select and parts that reject, in any order.
func (p *parser) table() (Correction, int, error) {
	at := len(dismissed.FindString(p.line))
	if at == 0 && questions[p.word(0)] {
		return Correction{}, 0, nil
	}
	var all []tableRead
	for {
		space := between.FindString(p.line[at:])
		apart := len(all) == 0 || strings.ContainsAny(space, ",.;:!–—-")
		read, ok := p.tablePart(at+len(space), apart)
		if ok && len(all) > 0 {
			contrary := (read.no == nil) != (all[len(all)-1].no == nil)
			if loose := slices.ContainsFunc(slices.Concat(read.yes, read.no), func(n int) bool { return p.items[n].code == "w" }); loose {
				ok = contrary && (read.led || strings.Contains(space, "but")) // else prose goes on here
			} else if space == "" { // only what says the contrary needs no mark and no word before it
				ok = contrary && read.led
			}
		}
		if !ok {
			break
		}
		all, at = append(all, read), at+len(space)+len(read.text)
	}
	if len(all) == 0 {
		return Correction{}, 0, nil
	}
	c, bad, ok := p.tablesOf(all)
	last, end := all[len(all)-1], p.past(p.behind(at))
	behind := end
	for p.pause(behind) {
		behind++
	}
	rejects := last.yes == nil
	limits := stating[p.word(behind)] || rejects && bounded[p.word(behind)]
	allowed := func(w string) bool { return last.sure && !limits || reasons[w] }
	contrast := len(all) > 1 || last.yes != nil && last.no != nil
	other := slices.ContainsFunc(p.items, func(it item) bool { // what is said behind is about another table
		return it.table != nil && it.from >= end && !slices.Contains(c.Tables, *it.table) && !slices.Contains(c.Rejected, *it.table)
	})
	switch {
	case !ok, other, last.bare && !last.sure && !contrast && !p.end(end), !p.follows(end, rejects && !limits, allowed):
		return Correction{}, 0, nil
	case bad == nil:
		return c, end, nil
	case !contrast && !p.follows(end, false, func(w string) bool { return reasons[w] }):
		return Correction{}, 0, nil
	case len(c.Tables)+len(c.Rejected) > 0:
		bad.Held = &c
		bad.Like = slices.DeleteFunc(bad.Like, func(n string) bool {
			return slices.ContainsFunc(c.Rejected, func(t schema.TableName) bool { return t.String() == n })
		})
	}
	return Correction{}, 0, bad
}

// tablePart reads a part that begins at line[at:]. apart: nothing or a mark stands before it.
func (p *parser) tablePart(at int, apart bool) (read tableRead, ok bool) {
	for _, read.tablePart = range tableParts {
		m := read.form.FindStringSubmatch(p.line[at:])
		if m == nil || read.first && !apart {
			continue
		}
		group := func(name string) string {
			if i := read.form.SubexpIndex(name); i > 0 {
				return m[i]
			}
			return ""
		}
		read.text, read.yes, read.no = m[0], p.indexes(group("yes")), p.indexes(group("no"))
		of := func(codes string) bool {
			return slices.ContainsFunc(slices.Concat(read.yes, read.no), func(n int) bool { return strings.Contains(codes, p.items[n].code) })
		}
		lead := strings.Fields(group("lead"))
		read.bare = read.no == nil && len(lead) == 0 && read.form.SubexpIndex("lead") > 0
		read.sure = of("TU") || slices.Contains(lead, "table")
		has := func(words string) bool {
			return slices.ContainsFunc(lead, func(w string) bool { return slices.Contains(strings.Split(words, "|"), w) })
		}
		read.led = read.form.SubexpIndex("lead") < 0 || has(verb)
		return read, read.sure || has(choose) || !of("a") // "use country instead of city" may mean columns
	}
	return read, false
}

// tablesOf is what the parts say together. bad is a name among them that the schema does not have. ok is false where prose
// may stand in the place of such a name, and where a table is only said to be wrong.
func (p *parser) tablesOf(all []tableRead) (c Correction, bad *CorrectionError, ok bool) {
	c.Kind = CorrectTable
	selects, rejects, needs := false, false, false
	for _, part := range all {
		selects, rejects, needs = selects || part.yes != nil, rejects || part.no != nil, needs || part.needs
	}
	for _, part := range all {
		add := func(names *[]schema.TableName, items []int, loose bool) bool {
			for _, n := range items {
				it := p.items[n]
				if it.table != nil {
					*names = append(*names, *it.table)
					continue
				}
				fault := p.fault(it.from)
				if it.code == "w" && !loose && (part.bare || len(fault.Like) == 0) {
					return false
				}
				bad = cmp.Or(bad, fault)
			}
			return true
		}
		if !add(&c.Tables, part.yes, rejects) || !add(&c.Rejected, part.no, selects && !strings.HasPrefix(part.text, "not ")) {
			return c, nil, false
		}
	}
	return c, bad, selects || !needs
}
