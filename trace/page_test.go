package trace_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/internal/tracepage"
	"github.com/texttosql/texttosql/trace"
)

func render(t *testing.T, p shownPage) string {
	t.Helper()
	var out bytes.Buffer
	testutil.OK(t, p.root.WritePage(&out, p.Page, p.show))
	return out.String()
}

func TestPage_golden(t *testing.T) {
	golden.Check(t, "shop.html", []byte(render(t, shopPage(shop(0)))))
}

// A page of hostile text has the markup of the template, no more.
func TestPage_hostile(t *testing.T) {
	page := render(t, hostilePage())
	tags := regexp.MustCompile(`<(/?)([a-zA-Z!][a-zA-Z0-9]*)`)
	known := map[string]bool{}
	for _, m := range tags.FindAllStringSubmatch(render(t, shopPage(shop(0))), -1) {
		known[m[2]] = true
	}
	open := map[string]int{}
	for _, m := range tags.FindAllStringSubmatch(page, -1) {
		switch {
		case m[2] == "script" || m[2] == "img":
			t.Fatalf("a <%s> got into the page", m[2])
		case m[1] == "/":
			open[m[2]]--
		default:
			open[m[2]]++
		}
	}
	for tag, n := range open {
		switch tag {
		case "meta", "!DOCTYPE": // have no end
		case "rect":
		default:
			if n != 0 {
				t.Errorf("<%s> is opened %d times more than closed", tag, n)
			}
		}
	}
	if strings.Count(page, "<style>") != 1 || strings.Count(page, "</title>") != 1 {
		t.Error("a value closed the title or opened a style")
	}
	if regexp.MustCompile(`<[^>]*\s(on\w+|style|href|src)=`).MatchString(page) {
		t.Error("an element has a handler, a style or an address")
	}
	text := html.UnescapeString(page)
	for _, r := range text {
		if r != '\n' && r != '\t' && r != '\u200C' && r != '\u200D' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Fatalf("U+%04X is in the page", r)
		}
	}
	if !strings.Contains(text, "⟨U+202E⟩") {
		t.Error("a direction character does not show")
	}
	if !strings.Contains(text, "من هو العميل؟") {
		t.Error("an Arabic cell was changed")
	}
}

// The style is let in by its hash, and nothing else is.
func TestPage_policy(t *testing.T) {
	page := render(t, shownPage{Page: tracepage.Page{Title: "x"}})
	style := page[strings.Index(page, "<style>")+len("<style>") : strings.Index(page, "</style>")]
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || html.UnescapeString(policy[1]) != want {
		t.Errorf("policy is %q, want %q", policy, want)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads something")
	}
}

func TestPage_sameFromJSON(t *testing.T) {
	root := shop(0)
	b := testutil.Value(root.JSON(trace.PrivateSQL))(t)
	var back trace.Span
	testutil.OK(t, json.Unmarshal(b, &back))
	p := shopPage(root)
	p.show = trace.PrivateSQL
	if diff := cmp.Diff(render(t, p), render(t, shopPage(&back))); diff != "" {
		t.Errorf("a trace read from JSON shows otherwise (-live +read)\n%s", diff)
	}
}

func TestPage_partial(t *testing.T) {
	tests := []struct {
		name, why     string
		page          shownPage
		with, without []string
	}{
		{"empty", "the zero page is a page",
			shownPage{Page: tracepage.Page{}}, []string{"<h1 dir=\"auto\">Answer</h1>", "<title>Answer</title>"},
			[]string{"<h2", "<dl"}},
		{"title", "the title stands in for a question",
			shownPage{Page: tracepage.Page{Title: "T"}}, []string{">T</h1>", "<title>T</title>"}, nil},
		{"question", "the question stands in for a title",
			shownPage{Page: tracepage.Page{Question: "Q?"}}, []string{">Q?</h1>", "<title>Q?</title>"}, nil},
		{"zero root", "a zero span is no trace", shownPage{root: new(trace.Span)}, nil, []string{"How it was found", "Time"}},
		{"bare root", "one step, no usage", shownPage{root: trace.Tracer{}.New("ask")}, []string{"1 step in"},
			[]string{"Tokens</dt>", "Cost"}},
		{"share", "a share that is none is no bar",
			shownPage{Page: tracepage.Page{Facts: []tracepage.Fact{{Name: "n", Value: "v", Share: math.NaN()}}}},
			[]string{">n</dt>"},
			[]string{"<rect"}},
		{"bar", "a bar that is none is empty",
			shownPage{Page: tracepage.Page{Sections: []tracepage.Section{{Title: "s", Bars: []tracepage.Fact{{Share: math.NaN()},
				{Share: math.Inf(1)}}}}}},
			[]string{`width="0.0"`, `width="1000.0"`}, []string{"NaN", "Inf"}},
		{"ragged", "short rows and missing heads are filled up",
			shownPage{Page: tracepage.Page{Sections: []tracepage.Section{{Columns: []string{"a"},
				Rows: [][]string{{"1", "x"}, {}}}}}},
			[]string{`<td dir="auto" class="number"></td><td dir="auto"></td>`}, nil},
		{"list", "a column without a name needs no head",
			shownPage{Page: tracepage.Page{Sections: []tracepage.Section{{Columns: []string{""},
				Rows: [][]string{{"a note"}}}}}},
			[]string{`<td dir="auto">a note</td>`}, []string{"<thead"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := render(t, tt.page)
			body := page[strings.Index(page, "</style>"):]
			for _, want := range tt.with {
				if !strings.Contains(page, want) {
					t.Errorf("%s: no %q in\n%s", tt.why, want, body)
				}
			}
			for _, other := range tt.without {
				if strings.Contains(body, other) {
					t.Errorf("%s: %q in\n%s", tt.why, other, body)
				}
			}
		})
	}
}

// Steps stand below the step that made them; samples have the colour of their cluster, whose statement is shown; a step
// without details cannot be opened; numbers have the digits that a person reads.
func TestPage_steps(t *testing.T) {
	root := trace.Tracer{}.New("ask", trace.Attr{Key: "confidence", Value: 0.559094},
		trace.Attr{Key: "tokens", Value: 12345})
	ctx := trace.NewContext(t.Context(), root)
	for i := range 3 {
		of, sample := trace.FromContext(ctx).StartAt(ctx, i, "sample", trace.Attr{Key: "sample", Value: i})
		_, call := trace.Start(of, "call")
		call.End()
		sample.End()
	}
	root.End()
	page := render(t,
		shownPage{root: root, Page: tracepage.Page{Sections: []tracepage.Section{{Title: "Votes", Bars: []tracepage.Fact{
			{Name: "Cluster 1", Detail: "SELECT 1", Samples: []int{0, 2}},
			{Name: "Cluster 2", Detail: "SELECT 2", Samples: []int{1}}}}}}})
	for text, n := range map[string]int{
		`class="span k1"`: 2, `class="span k2"`: 1, `rect class="k1"`: 1, `rect class="k2"`: 1, `>SELECT 2</pre>`: 1,
		"<details": 4, `<div class="row leaf">`: 3,
		">0.559<": 1, ">12,345<": 1, "No details": 0, "7 steps in": 1,
	} {
		if got := strings.Count(page, text); got != n {
			t.Errorf("%q is there %d times, want %d", text, got, n)
		}
	}
	nested := regexp.MustCompile(
		`(?s)<b dir="auto">sample</b>.*?<ul class="steps">\s*<li><div class="row leaf">\s*<span class="name d2"><b dir="auto">call</b>`)
	if !nested.MatchString(page) {
		t.Error("a call does not stand below its sample")
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestPage_writeError(t *testing.T) {
	want := errors.New("disk full")
	if err := (*trace.Span)(nil).WritePage(brokenWriter{want}, tracepage.Page{}, 0); !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func BenchmarkPage(b *testing.B) {
	p := shopPage(shop(0))
	for b.Loop() {
		if err := p.root.WritePage(&bytes.Buffer{}, p.Page, p.show); err != nil {
			b.Fatal(err)
		}
	}
}
