package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// said is a generated text, with what a person means by it. Of tables that are doubtful the text does not say whether
// they are wanted: only prose is right.
type said struct {
	text                     string
	wanted, refused, doubted []string
}

// saidParts draws the parts of generated texts.
type saidParts struct{ *rand.Rand }

func (p saidParts) of(choices ...string) string { return choices[p.IntN(len(choices))] }

// named is a table with its article and noun.
func (p saidParts) named(table string) string {
	return p.of("%s", "the %s", "the %s table", "the %s one", "table %s", "the table %s", `"%s"`) + "\x00" + table
}

// list joins tables.
func (p saidParts) list(joint string, tables []string) string {
	parts := make([]string, len(tables))
	for i, table := range tables {
		form, name, _ := strings.Cut(p.named(table), "\x00")
		parts[i] = fmt.Sprintf(form, name)
	}
	if last := len(parts) - 1; joint == ", and " && last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, joint)
}

func (p saidParts) verb() string {
	return p.of("use", "take", "query", "select", "go with", "read from", "try", "pick", "you should use", "I want",
		"it should be", "stick with")
}

func (p saidParts) no() string {
	return p.of("not", "do not use", "don't use", "never use", "avoid", "stop using", "don't read from",
		"you should not use", "I don't want")
}

// draw is one text about two or three tables.
func (p saidParts) draw() said {
	names := []string{"customers", "orders", "payments", "products", "prod_customers"}
	p.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	one, two, third, rest := names[:1], names[1:2], names[2:3], names[1:2+p.IntN(2)]
	a, b, c := p.list("", one), p.list("", two), p.list("", third)
	others := p.list(" or ", rest)

	both := func(text string) said { return said{text: text, wanted: one, refused: two} }
	doubted := func(text string, names []string) said { return said{text: text, doubted: names} }
	kinds := []said{
		{text: p.verb() + " " + a + p.of(" and ", ", ", ", and ") + c, wanted: []string{one[0], third[0]}},
		{text: p.no() + " " + p.list(p.of(" and ", " or ", " nor "), rest), refused: rest},
		{text: p.verb() + " " + a + p.of(", not ", " instead of ", " rather than ") + others, wanted: one, refused: rest},
		{text: p.of("instead of ", "rather than ") + others + p.of(", ", " ") + p.verb() + " " + a, wanted: one,
			refused: rest},
		both(p.verb() + " " + a + p.of(", not ", " not ", ", but not ", " and not ", " instead of ", " rather than ") + b),
		both(p.no() + " " + b + p.of(", ", ". ", "; ", ", but ", " but ") + p.verb() + " " + a + p.of("", " instead")),
		both("not " + b + p.of(" but ", ", but ") + a),
		both(b + p.of(" is wrong", " is old", " is outdated", " is the wrong one") + p.of(", ", "; ", ". ") + p.verb() +
			" " + a),
		both(p.verb() + " " + a + p.of(", ", "; ", ". ") + b + p.of(" is wrong", " is old", " is empty", " looks stale")),
		both(p.of("swap ", "replace ") + b + p.of(" for ", " with ") + a),
		both(p.of("I prefer ", "prefer ") + a + p.of(" over ", " to ") + b),
		doubted(p.no()+" "+p.list(p.of(", ", ", and "), names[:3]), names), // a list with commas behind a negation
		doubted(p.no()+" "+a+p.of(" and ", " or ")+b+", "+c, third),
		doubted(p.of("not ", "avoid ", "stop using ")+a+", "+b, names[:2]),
		// words are left over
		doubted(p.of(p.verb(), p.no())+" "+a+p.of(" unless ", " only with ", " if it is in ", " of last year with ",
			", actually ")+b, names),
	}
	s := kinds[p.IntN(len(kinds))]
	s.text = p.of("", "", "please ", "No, ", "Sorry, ", "no, please ") + s.text + p.of("", "", " please", ", thanks", ".",
		" thank you!")
	return s
}

// inverted reports whether a reading says the opposite of a text, or says something of what is doubtful.
func (s said) inverted(c session.Correction) bool {
	any := func(tables []schema.TableName, names []string) bool {
		return slices.ContainsFunc(tables, func(t schema.TableName) bool { return slices.Contains(names, t.Name) })
	}
	return any(c.Tables, s.refused) || any(c.Rejected, s.wanted) || any(slices.Concat(c.Tables, c.Rejected), s.doubted)
}

// right reports whether a reading says all that the text says.
func (s said) right(c session.Correction) bool {
	same := func(tables []schema.TableName, names []string) bool {
		return len(tables) == len(names) && !slices.ContainsFunc(tables, func(t schema.TableName) bool {
			return !slices.Contains(names, t.Name)
		})
	}
	return c.Kind == dialogue.CorrectTable && same(c.Tables, s.wanted) && same(c.Rejected, s.refused)
}

// TestGenerated: of 500 texts no one is read as its opposite, whatever is read is all that the text says, and at least
// three of five are read as a form.
func TestGenerated(t *testing.T) {
	p := saidParts{rand.New(rand.NewPCG(5, 6))}
	const texts = 500
	typed := 0
	for range texts {
		s := p.draw()
		c, err := session.Parse(s.text, erp())
		switch {
		case err != nil || s.inverted(c):
			t.Errorf("%q is read as the opposite: %s, %v", s.text, say(c), err)
		case s.right(c):
			typed++
		case c.Kind != dialogue.CorrectText:
			t.Errorf("%q is read in part: %s", s.text, say(c))
		}
	}
	if t.Logf("%d of %d texts are read as a form", typed, texts); typed < texts*6/10 {
		t.Error("too few")
	}
}
