package web

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOwnPage: a statement of one's own without a question, after a refusal and after a cancel; it survives a kill, and
// its link opens it.
func TestOwnPage(t *testing.T) {
	s := open(t, nil)
	b := s.tab(t, desk, "/")
	b.at("Your question")
	b.goTo("Write the SQL yourself")
	b.keys(kb.Enter)
	b.at("Your own SQL, one statement that reads")
	b.axe("writing")
	b.keys("DELETE FROM sales")
	b.goTo("Run")
	b.keys(kb.Enter)
	b.shows("This only reads.")
	write := func(sql string) {
		t.Helper()
		b.write(sql)
		b.click("Run")
		b.at("Your own statement")
		b.unringed()
	}
	write("SELECT region, sum(amount) AS amount FROM sales GROUP BY region")
	b.shows("amount by region")
	b.axe("own alone")
	b.click("Mine is right")
	b.at("The question that it answers")
	b.keys("What did each region sell?" + kb.Enter)
	b.shows("✓ Confirmed by you")
	b.click2("question")
	b.keys("What is the weather?" + kb.Enter)
	b.shows("No answer")
	b.axe("no answer")
	b.click("Write the SQL")
	write("SELECT count(*) AS n FROM sales")
	b.until("document.querySelectorAll('article').length === 3")

	release := s.model.hold()
	b.click2("question")
	b.keys("How many in the north?" + kb.Enter)
	b.shows("Asking the model")
	b.keys(kb.Escape)
	b.at("Not answered yet")
	release()
	b.click("Write the SQL")
	write("SELECT count(*) AS north FROM sales WHERE region = 'North'")
	b.click("Go on")
	b.answered()
	b.axe("own and answer")
	s.killed(t)
	b.shows("The server does not answer")
	s.start(t, nil)
	b.until("document.getElementById('lost').hidden && [...document.querySelectorAll('button')].some((e) => e.innerText " +
		"=== 'Show the rows') && " +
		"document.querySelector('article:last-child h3.one')?.innerText === '2'")
	b.run(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('button')].find((e) => e.innerText === 'Show " +
		"the rows').click(); undefined"))
	b.until("document.querySelectorAll('article')[0]?.querySelectorAll('tbody tr').length === 4")

	b.run(chromedp.Evaluate[chromedp.Void]("navigator.clipboard.writeText = async (text) => { window.copied = text; }; " +
		"undefined"))
	b.click("Copy")
	b.click("Copy link")
	b.shows("Copied")
	link := eval[string](b, "window.copied")
	if want := eval[string](b, "location.href") + "/0"; link != want {
		t.Errorf("the link is %s, want %s", link, want)
	}
	other := b.beside(desk, link)
	other.at("Your own statement")
	other.until("document.querySelectorAll('article').length === 5 && " +
		"document.activeElement.closest('article')?.dataset.place === '0'")
	b.clean()
}

// TestChartOfCategories: a series for each category has a legend, and is saved as the picture that is seen.
func TestChartOfCategories(t *testing.T) {
	s := openWith(t, store, nil)
	id := s.asked(t, "", "Revenue by month and status in 2025").ID
	for name, l := range map[string]look{"": {1280, false}, "-phone-dark": {390, true}} {
		b := s.tab(t, l, "/#c/"+id)
		b.shows("revenue by month and status")
		b.until("document.querySelectorAll('figure .legend li').length === 3 && document.querySelectorAll('figure " +
			".curve').length === 6")
		b.axe("categories" + name)
		if pale := eval[[]string](b, pale); len(pale) > 0 {
			t.Errorf("too pale: %q", pale)
		}
		b.shot("page-chart" + name)
		raw := b.download("Save the chart as PNG: revenue by month and status")
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
		colors := map[color.Color]int{}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				colors[color.RGBAModel.Convert(picture.At(x, y))]++
			}
		}
		for _, want := range map[bool][]color.RGBA{false: {{0x24, 0x57, 0xd6, 255}, {0xb3, 0x54, 0x1e, 255},
			{255, 255, 255, 255}},
			true: {{0x7e, 0xa2, 0xff, 255}, {0xf0, 0xa0, 0x60, 255}, {0x14, 0x16, 0x1a, 255}}}[l.dark] {
			if colors[want] < 100 {
				t.Errorf("%v has %d points of %v", want, colors[want], picture.Bounds())
			}
		}
		if dir := os.Getenv("TEXTTOSQL_PICTURES"); dir != "" {
			os.WriteFile(filepath.Join(dir, "saved"+name+".png"), raw, 0o600)
		}
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('figure select').value = 'columns';
			document.querySelector('figure select').dispatchEvent(new Event('change')); undefined`))
		b.until("document.querySelectorAll('figure .block').length === 34")
		b.shot("columns" + name)
		b.clean()
	}
}

// TestPrint: on paper an answer has its question, chart, rows and statement, and nothing that is pressed; its rows are
// not cut, and its colours are those of paper.
func TestPrint(t *testing.T) {
	s := openWith(t, store, nil)
	id := s.asked(t, "", "What was the revenue by month in 2025?").ID
	b := s.tab(t, look{800, true}, "/#c/"+id)
	b.shows("revenue by month")
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}))
	for text, there := range map[string]bool{"What was the revenue by month in 2025?": true, "Check this": true,
		"December 2025": true, "strftime": true,
		"New question": false, "Edit": false, "Markdown": false, "PNG": false, "Find a conversation": false,
		"A follow-up question": false, "Copy": false, "Why?": false} {
		if got := eval[bool](b, fmt.Sprintf("document.body.innerText.includes(%q)", text)); got != there {
			t.Errorf("%q is on paper: %v", text, got)
		}
	}
	if back := eval[string](b, "getComputedStyle(document.body).backgroundColor"); back != "rgb(255, 255, 255)" {
		t.Error(back)
	}
	if pale := eval[[]string](b, pale); len(pale) > 0 {
		t.Errorf("too pale: %q", pale)
	}
	if cut := eval[int](b, "[...document.querySelectorAll('.scroll, pre')]"+
		".filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 2).length"); cut != 0 {
		t.Errorf("%d parts are cut", cut)
	}
	b.axe("print")
	b.picture("print")
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		pdf, err := cdp.Call(ctx, t, cdppage.PrintToPDF, cdppage.PrintToPDFParams{})
		if dir := os.Getenv("TEXTTOSQL_PICTURES"); err == nil && dir != "" {
			err = os.WriteFile(filepath.Join(dir, "print.pdf"), pdf.Data, 0o600)
		}
		return err
	}))
}

// TestTraceLooks: the page about one answer passes axe, with all its spans open.
func TestTraceLooks(t *testing.T) {
	s := openWith(t, store, nil)
	id := s.asked(t, "", "What was the revenue by month in 2025?").ID
	for name, l := range map[string]look{"light": {1280, false}, "dark": {390, true}} {
		b := s.tab(t, l, "/trace/"+id+"/0")
		b.shows("strftime")
		b.axe("trace " + name)
		b.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('details').forEach((d) => d.open = true); " +
			"undefined"))
		b.axe("trace open " + name)
		b.picture("trace-" + name)
	}
}
