package exec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Forms in which a day is written. A moment begins as its day does.
var dateForms = []struct {
	name string
	at   *regexp.Regexp
}{
	{"year-month-day", regexp.MustCompile(`^\d{4}-\d\d(?:-\d\d)?(?:[T ].*)?$|^\d{4}-(?:\d\d-?)?$`)},
	{"year/month/day", regexp.MustCompile(`^\d{4}/\d\d?(?:/\d\d?)?`)},
	{"year.month.day", regexp.MustCompile(`^\d{4}\.\d\d\.\d\d`)},
	{"day and month before the year, with /", regexp.MustCompile(`^\d\d?/\d\d?/\d{2,4}`)},
	{"day and month before the year, with .", regexp.MustCompile(`^\d\d?\.\d\d?\.\d{2,4}`)},
	{"day and month before the year, with -", regexp.MustCompile(`^\d\d?-(?:\d\d?|\pL{3})-\d{2,4}`)},
	{"yearmonthday", regexp.MustCompile(`^(?:19|20)\d{6}(?:[T ]?\d{4,6})?$`)},
	{"seconds or milliseconds", regexp.MustCompile(`^\d{9,13}(?:\.\d+)?$`)},
	{"names of months",
		regexp.MustCompile(`(?i)^(?:\d\d?\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*\.? \d`)},
}

// dateForm is the form of a text; "": it is no date.
func dateForm(text string) string {
	for _, f := range dateForms {
		if f.at.MatchString(text) {
			return f.name
		}
	}
	return ""
}

// isoDay is a day alone, as most engines write one.
var isoDay = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// dates looks for days in another form than the stored ones, for days that are compared with moments, and for functions
// that cannot read what is stored.
func (o *suspicion) dates() (string, bool) {
	for _, c := range o.Statement.Comparisons() {
		t, column := checks.ColumnOf(o.schema, c.ColumnRef)
		if t == nil {
			continue
		}
		for i, l := range c.Literals {
			value := strings.Trim(l.Value, "%_")
			form := dateForm(value)
			if form == "" || l.Kind == sqlshape.Number && form != "yearmonthday" {
				continue
			}
			if stored := o.storedForm(t, column); stored != "" && stored != form {
				return fmt.Sprintf("dates of %s.%s are stored as %s, and are compared with one written as %s", t.Name, column,
					stored, form), true
			}
			if cutsDay(c.Op, i) && isoDay.MatchString(value) && o.withinDay(t, column, value) {
				told := "is compared with a day: its moments of that day are left out or let in"
				if c.Op == "<=" || c.Op == "BETWEEN" {
					told = "the last day is cut: the range ends at 00:00 of " + value
				}
				return fmt.Sprintf("%s.%s has a time of day, and %s", t.Name, column, told), true
			}
		}
	}
	return o.unreadable()
}

// cutsDay reports whether a comparison with a day, its constant i, parts the moments of that day from its beginning.
func cutsDay(op string, i int) bool {
	return slices.Contains([]string{"=", "<>", "IN", "NOT IN", "<=", ">"}, op) || strings.HasSuffix(op, "BETWEEN") &&
		i == 1
}

// column is the table and the column as a statement of ours writes them, the column with its table in front.
func (o *suspicion) column(t *schema.Table, column string) (from, name string) {
	l := o.run.db.language
	return t.TableName().Quoted(l), l.Quote(t.Name) + "." + l.Quote(column)
}

// storedForm is the form of the dates of a column; "" where its values have none, or several.
func (o *suspicion) storedForm(t *schema.Table, column string) (form string) {
	from, name := o.column(t, column)
	value := name
	if o.run.db.language.Name == "sqlite" { // whose driver reads a text of a date column as a time
		value = "CAST(" + name + " AS TEXT)"
	}
	read := o.ask("SELECT "+value+" FROM "+from+" WHERE "+name+" IS NOT NULL LIMIT 20", 20)
	if read == nil {
		return ""
	}
	for _, row := range read.Rows {
		text := strings.TrimSpace(fmt.Sprint(row[0]))
		one := dateForm(text)
		if one == "" || form != "" && one != form {
			return ""
		}
		form = one
	}
	return form
}

// withinDay reports whether a column has moments within a day, behind its beginning.
func (o *suspicion) withinDay(t *schema.Table, column, day string) bool {
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return false
	}
	from, name := o.column(t, column)
	read := o.ask(fmt.Sprintf("SELECT 1 FROM %s WHERE %s > '%s' AND %[2]s < '%[4]s' LIMIT 1", from, name, day,
		d.AddDate(0, 0, 1).Format(time.DateOnly)), 1)
	return read != nil && len(read.Rows) > 0
}

// dateFunctions are those of SQLite that read a date, with the argument that is one.
var dateFunctions = map[string]int{"DATE": 0, "DATETIME": 0, "TIME": 0, "JULIANDAY": 0, "UNIXEPOCH": 0, "STRFTIME": 1}

// unreadable looks for a date function of SQLite that makes NULL of what a column holds.
func (o *suspicion) unreadable() (string, bool) {
	if o.run.db.language.Name != "sqlite" || !slices.ContainsFunc(o.Statement.Outline().Functions, func(f string) bool {
		_, ok := dateFunctions[f]
		return ok
	}) {
		return "", false
	}
	tokens := slices.Collect(o.Statement.Tokens())
	for _, c := range o.columns {
		i, _ := slices.BinarySearchFunc(tokens, c.Pos, func(t sqltext.Token, pos int) int { return t.Pos - pos })
		open, ok := readsDate(tokens, i)
		if !ok {
			continue
		}
		end := open + 1
		for ; end < len(tokens) && tokens[end].Text != ")"; end++ {
		}
		call := o.SQL[tokens[open-1].Pos : tokens[min(end, len(tokens)-1)].Pos+1]
		t, column := checks.ColumnOf(o.schema, c)
		if t == nil || strings.Count(call, "(") != 1 {
			continue
		}
		from, name := o.column(t, column)
		call = strings.Replace(call, o.mention(tokens, i), name, 1)
		if read := o.ask("SELECT 1 FROM "+from+" WHERE "+name+" IS NOT NULL AND "+name+" <> '' AND "+call+" IS NULL LIMIT 1",
			1); read != nil && len(read.Rows) > 0 {
			return fmt.Sprintf("the date function makes nothing of what %s.%s holds", t.Name, column), true
		}
	}
	return "", false
}

// readsDate reports whether token i stands where a date function takes its date, behind the bracket open.
func readsDate(tokens []sqltext.Token, i int) (open int, ok bool) {
	argument := 0
	for open = i - 1; open > 0 && tokens[open].Text != "(" && tokens[open].Text != ")"; open-- {
		if tokens[open].Text == "," {
			argument++
		}
	}
	if open < 1 || tokens[open].Text != "(" {
		return open, false
	}
	place, ok := dateFunctions[strings.ToUpper(tokens[open-1].Text)]
	return open, ok && place == argument
}

// mention is the column that begins at token i, with its qualifier.
func (o *suspicion) mention(tokens []sqltext.Token, i int) string {
	end := i
	for end+2 < len(tokens) && tokens[end+1].Text == "." {
		end += 2
	}
	return o.SQL[tokens[i].Pos : tokens[end].Pos+len(tokens[end].Text)]
}
