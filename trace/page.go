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

	"github.com/texttosql/texttosql/internal/words"
)

// Page is one answer for a person to read: the question, the statement, the confidence, the votes, and a timeline of
// the work. The caller fills in what it wants to show. The fields are shown as they are, private or not; only the
// timeline of Root follows Show. An empty field shows nothing.
type Page struct {
	Title    string    // title of the document; "": the question
	Question string    // the heading
	SQL      string    // the statement of the answer
	Problem  string    // why there is no answer, or what is wrong with it
	Facts    []Fact    // shown first; time, calls and tokens of Root follow
	Sections []Section // the ballot, the head of the result, …
	Root     *Span     // its warnings and its spans; may be nil
	Show     Private   // secrets to show in the timeline, besides those that the Tracer keeps
}

// Fact is a figure with its name: "Confidence", "0.83". In a section it is one of several shares, such as a cluster of
// a ballot.
type Fact struct {
	Name  string  // what it is
	Value string  // the figure as shown: "0.83", "7 of 12"
	Share float64 // 0..1, drawn as a bar; NaN and values outside are moved into it; 0: no bar, or an empty one in a section

	// These are shown in a section only.
	Detail  string // text in a block, such as the statement of a cluster
	Lead    bool   // the fact was chosen
	Samples []int  // samples of a cluster: steps with one of them as attribute "sample" get its colour
}

// Section is a part of the page with a heading, with bars, a table, or both.
type Section struct {
	Title   string     // its heading
	Note    string     // a line below the heading
	Bars    []Fact     // shown above the table
	Columns []string   // heads of the table
	Rows    [][]string // cells by column; a short row is filled up with empty cells
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// WriteHTML writes the page as one HTML document without scripts, fonts and images. Its content policy allows only its
// own style. All text is escaped, and control and direction characters are shown by their code. Equal pages give equal
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

// pageView is the data of the template. The template passes each string of the caller and of the trace through visible.
type pageView struct {
	Page
	CSS      template.CSS
	Policy   string
	Heading  string
	Long     bool
	Facts    []factView
	Sections []sectionView
	Warnings []Warning
	Top      *rowView
	Steps    int
	Total    string
	Started  string
}

type factView struct {
	Fact
	Width   string // width of the bar in thousandths; "": no bar
	Cluster string // the class of its colour; "": that of one that was chosen, or not
}

type sectionView struct {
	Section
	Bars    []factView
	Head    bool   // a column has a name
	Numeric []bool // whether a column is numeric, by column
}

func (p Page) view() pageView {
	sum := sha256.Sum256([]byte(pageCSS))
	v := pageView{
		Page: p,
		CSS:  template.CSS(pageCSS),
		// A hash instead of 'unsafe-inline', so that no value can bring a style along.
		Policy:  "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'",
		Heading: firstOf(p.Question, p.Title, "Answer"),
	}
	v.Title = words.Short(firstOf(p.Title, p.Question, "Answer"), 120)
	v.Long = len([]rune(v.Heading)) > 160
	for _, f := range p.Facts {
		fv := factView{Fact: f}
		if share := clamp(f.Share); share > 0 {
			fv.Width = thousandths(share)
		}
		v.Facts = append(v.Facts, fv)
	}
	clusters := map[string]string{}
	for _, s := range p.Sections {
		v.Sections = append(v.Sections, s.view(clusters))
	}
	if p.Root != nil && p.Root.tree != nil {
		for _, f := range usageFacts(p.Root) {
			v.Facts = append(v.Facts, factView{Fact: f})
		}
		v.Warnings = p.Root.Warnings()
		var total time.Duration
		v.Top, v.Steps, total = p.Root.rows(p.Show, clusters)
		v.Total = durationText(total)
		if at := p.Root.Started(); !at.IsZero() {
			v.Started = at.UTC().Format("2006-01-02 15:04:05 UTC")
		}
	}
	return v
}

// colours is how many clusters have a colour of their own. Later ones have none.
const colours = 6

// view adds the colours of its clusters to those by sample.
func (s Section) view(clusters map[string]string) sectionView {
	v := sectionView{Section: s}
	for i, b := range s.Bars {
		f := factView{Fact: b, Width: thousandths(clamp(b.Share))}
		if len(b.Samples) > 0 && i < colours {
			f.Cluster = "k" + strconv.Itoa(i+1)
			for _, sample := range b.Samples {
				clusters[words.Thousands(sample)] = f.Cluster
			}
		}
		v.Bars = append(v.Bars, f)
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

// numeric reports whether column c holds a number, and otherwise only numbers and empty cells. It is then aligned
// right.
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

// usageFacts returns the figures of a whole trace.
func usageFacts(root *Span) []Fact {
	facts := []Fact{{Name: "Time", Value: durationText(root.Duration())}}
	u := root.Usage()
	if u == (Usage{}) {
		return facts
	}
	tokens := words.Thousands(u.PromptTokens) + " in, " + words.Thousands(u.CompletionTokens) + " out"
	money := strconv.FormatFloat(u.Money, 'g', 4, 64)
	if !u.Known {
		tokens, money = "about "+tokens, "about "+money
	}
	if u.Partial {
		tokens, money = tokens+", or more", money+", or more"
	}
	facts = append(facts, Fact{Name: "Model calls", Value: words.Thousands(u.Calls)}, Fact{Name: "Tokens", Value: tokens})
	if u.Money != 0 {
		facts = append(facts, Fact{Name: "Cost", Value: money})
	}
	return facts
}

// visible replaces each character that is not seen, or that moves others, by its code, because a statement could read
// as another one. Line breaks and tabs stay, and so do the joiners that some scripts need.
func visible(text string) string {
	return words.Visible(text, "⟨U+%04X⟩", func(r rune) bool { return r != '\n' && r != '\t' && words.Hidden(r) })
}

// durationText returns d for a person, with about three digits.
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

// clamp moves x into 0..1.
func clamp(x float64) float64 {
	if !(x > 0) { // also for NaN
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
