package trace

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Page is one answer for a person to read: the question, the statement, how
// sure the answer is, how the votes fell, and a timeline of the work.
//
// The trace knows nothing of votes or results, so the caller fills in what it
// wants to show. What stands in the fields is shown as it is, private or not;
// only the timeline of Root follows Show. An empty field shows nothing.
type Page struct {
	Title    string    // of the document; "": the question
	Question string    // the heading
	SQL      string    // the statement of the answer
	Problem  string    // why there is no answer, or what is wrong with it
	Facts    []Fact    // shown first; time, calls and tokens of Root follow
	Sections []Section // the ballot, the head of the result, …
	Root     *Span     // its warnings and its spans; may be nil
	Show     Private   // private values to show in the timeline, besides those the Tracer keeps
}

// Fact is a figure with its name: "Confidence", "0.83".
type Fact struct {
	Name  string  // what it is
	Value string  // as shown
	Share float64 // 0..1, drawn as a bar; 0: no bar
}

// Section is a part of the page with a heading, with bars, a table, or both.
type Section struct {
	Title   string     // its heading
	Note    string     // a line below the heading
	Bars    []Bar      // shown above the table
	Columns []string   // heads of the table
	Rows    [][]string // cells by column; a short row is filled up with empty cells
}

// Bar is one of several shares: a cluster of a ballot.
type Bar struct {
	Label  string  // beside the bar
	Share  float64 // 0..1; what is outside, or no number, is moved into it
	Text   string  // the share in words: "7 of 12"
	Detail string  // in a block to be opened, such as the statement of the cluster
	Lead   bool    // the one that was chosen
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// WriteHTML writes the page as one HTML document that needs nothing else: no
// script, no font, no image. Its content policy allows its own style and nothing
// more. All text is escaped, and control and direction characters are shown by
// their code, so that what is read is what is there. Equal pages give equal
// bytes. Nothing is written if the page cannot be made.
func (p Page) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"show": visible}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("trace: writing page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p.view()); err != nil {
		return fmt.Errorf("trace: writing page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// pageView is what the template is given. The strings of the caller and of the
// trace are as they came; the template passes each through visible.
type pageView struct {
	Page
	CSS      template.CSS
	Policy   string
	Heading  string
	Long     bool
	Facts    []factView
	Sections []sectionView
	Warnings []Warning
	Rows     []rowView
	Total    string
	Started  string
}

type factView struct {
	Fact
	Bar string // width in thousandths; "" for none
}

type sectionView struct {
	Section
	Bars    []barView
	Head    bool   // a column has a name
	Numeric []bool // by column
}

type barView struct {
	Bar
	Width string
}

func (p Page) view() pageView {
	sum := sha256.Sum256([]byte(pageCSS))
	v := pageView{
		Page: p,
		CSS:  template.CSS(pageCSS),
		// A hash instead of 'unsafe-inline': no style can get in with a value.
		Policy:  "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		Heading: firstOf(p.Question, p.Title, "Answer"),
	}
	v.Title = cutRunes(firstOf(p.Title, p.Question, "Answer"), 120)
	v.Long = len([]rune(v.Heading)) > 160
	for _, f := range p.Facts {
		fv := factView{Fact: f}
		if share := clamp(f.Share); share > 0 {
			fv.Bar = thousandths(share)
		}
		v.Facts = append(v.Facts, fv)
	}
	for _, s := range p.Sections {
		v.Sections = append(v.Sections, s.view())
	}
	if p.Root != nil && p.Root.tree != nil {
		for _, f := range usageFacts(p.Root) {
			v.Facts = append(v.Facts, factView{Fact: f})
		}
		v.Warnings = p.Root.Warnings()
		var total time.Duration
		v.Rows, total = p.Root.rows(p.Show)
		v.Total = durationText(total)
		if at := p.Root.Started(); !at.IsZero() {
			v.Started = at.UTC().Format("2006-01-02 15:04:05 UTC")
		}
	}
	return v
}

func (s Section) view() sectionView {
	v := sectionView{Section: s}
	for _, b := range s.Bars {
		v.Bars = append(v.Bars, barView{Bar: b, Width: thousandths(clamp(b.Share))})
	}
	width := len(s.Columns)
	for _, row := range s.Rows {
		width = max(width, len(row))
	}
	fill := func(row []string) []string {
		return append(append(make([]string, 0, width), row...), make([]string, width-len(row))...)
	}
	v.Columns = fill(s.Columns)
	v.Head = firstOf(s.Columns...) != ""
	v.Rows = make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		v.Rows[i] = fill(row)
	}
	v.Numeric = make([]bool, width)
	for c := range v.Numeric {
		v.Numeric[c] = numeric(v.Rows, c)
	}
	return v
}

// numeric reports whether column c holds a number and nothing but numbers and
// empty cells, so that it is better read from the right.
func numeric(rows [][]string, c int) bool {
	found := false
	for _, row := range rows {
		if row[c] == "" {
			continue
		}
		if _, err := strconv.ParseFloat(row[c], 64); err != nil {
			return false
		}
		found = true
	}
	return found
}

// usageFacts are the figures of a whole trace. What is not exact says so.
func usageFacts(root *Span) []Fact {
	facts := []Fact{{Name: "Time", Value: durationText(root.Duration())}}
	u := root.Usage()
	if u == (Usage{}) {
		return facts
	}
	tokens := number(u.PromptTokens) + " in, " + number(u.CompletionTokens) + " out"
	money := strconv.FormatFloat(u.Money, 'g', 4, 64)
	if !u.Known {
		tokens, money = "about "+tokens, "about "+money
	}
	if u.Partial {
		tokens, money = tokens+", or more", money+", or more"
	}
	facts = append(facts, Fact{Name: "Model calls", Value: number(u.Calls)}, Fact{Name: "Tokens", Value: tokens})
	if u.Money != 0 {
		facts = append(facts, Fact{Name: "Cost", Value: money})
	}
	return facts
}

// visible is text with each character that is not seen, or that moves others,
// replaced by its code: a statement could read as another one. Line breaks and
// tabs stay, and so do the joiners that some scripts need.
func visible(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unseen(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	switch r {
	case '\n', '\t', '\u200C', '\u200D':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

// durationText is d for a person, with three digits or so.
func durationText(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d < 0:
		return "-" + durationText(-max(d, -1<<62))
	case d == 0:
		return "0 ms"
	case ms < 1:
		return strconv.FormatFloat(ms, 'f', 3, 64) + " ms"
	case ms < 99.95:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 999.5:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 59_995:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	default:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	}
}

// number is n with its thousands apart.
func number(n int) string {
	text := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(text) - 3; i > first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// clamp moves x into 0..1.
func clamp(x float64) float64 {
	if !(x > 0) { // also when it is no number
		return 0
	}
	return min(x, 1)
}

func thousandths(x float64) string { return strconv.FormatFloat(x*1000, 'f', 1, 64) }

func firstOf(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// cutRunes returns the first n runes of text, with a mark if there are more.
func cutRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}
