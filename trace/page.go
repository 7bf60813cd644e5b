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

	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/internal/words"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// WritePage writes a page about s as one HTML document without scripts, fonts and images: p, then the warnings of s and
// a timeline of its spans. show has the kinds of secrets to show in the timeline, in addition to [Tracer.Keep]. s may
// be nil.
//
// The content policy of the document allows only its own style. All text is escaped, and control and direction
// characters are shown by their code. Equal pages give equal bytes. If an error occurs while the page is made, nothing
// is written.
func (s *Span) WritePage(w io.Writer, p tracepage.Page, show Sensitivity) error {
	t, err := template.New("page").Funcs(template.FuncMap{"show": visible}).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("trace: writing page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, s.view(p, show)); err != nil {
		return fmt.Errorf("trace: writing page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// pageView is the data of the template. The template passes each string of the caller and of the trace through visible.
type pageView struct {
	tracepage.Page
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
	tracepage.Fact
	Width   string // width of the bar in thousandths; "": no bar
	Cluster string // the class of its colour; "": that of one that was chosen, or not
}

type sectionView struct {
	tracepage.Section
	Bars    []factView
	Head    bool   // a column has a name
	Numeric []bool // whether a column is numeric, by column
}

func (s *Span) view(p tracepage.Page, show Sensitivity) pageView {
	sum := sha256.Sum256([]byte(pageCSS))
	v := pageView{
		Page: p,
		CSS:  template.CSS(pageCSS),
		// A hash instead of 'unsafe-inline', so that no value can bring a style along.
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'",
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
	for _, section := range p.Sections {
		v.Sections = append(v.Sections, viewSection(section, clusters))
	}
	if s != nil && s.tree != nil {
		for _, f := range usageFacts(s) {
			v.Facts = append(v.Facts, factView{Fact: f})
		}
		v.Warnings = s.Warnings()
		var total time.Duration
		v.Top, v.Steps, total = s.rows(show, clusters)
		v.Total = durationText(total)
		if at := s.Started(); !at.IsZero() {
			v.Started = at.UTC().Format("2006-01-02 15:04:05 UTC")
		}
	}
	return v
}

// colours is how many clusters have a colour of their own. Later ones have none.
const colours = 6

// viewSection adds the colours of the clusters of a section to those by sample.
func viewSection(s tracepage.Section, clusters map[string]string) sectionView {
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
func usageFacts(root *Span) []tracepage.Fact {
	facts := []tracepage.Fact{{Name: "Time", Value: durationText(root.Duration())}}
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
	facts = append(facts, tracepage.Fact{Name: "Model calls", Value: words.Thousands(u.Calls)},
		tracepage.Fact{Name: "Tokens", Value: tokens})
	if u.Money != 0 {
		facts = append(facts, tracepage.Fact{Name: "Cost", Value: money})
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
