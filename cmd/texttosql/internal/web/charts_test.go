package web

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestKindsOfCharts: each kind of chart is drawn in the browser, with a note where it shows shares, and passes axe.
func TestKindsOfCharts(t *testing.T) {
	s := openWith(t, store, nil)
	for _, test := range []struct {
		why, sql, kind string // kind as it is chosen; "": the first one
		marks          int    // elements that stand for values
		says           string // a text in the figure
	}{
		{"parts of a whole, beside each other", crossing, "columns", 6, "2024"},
		{"stacked", crossing, "stacked", 6, "2025"},
		{"as shares", crossing, "share", 6, "Shares of what is shown."},
		{"bars as shares", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status", "share", 3, "%"},
		{"no shares of averages", "SELECT status, AVG(total) AS mean FROM orders GROUP BY status", "", 3, "cancelled"},
		{"a group that is NULL", "SELECT NULLIF(status, 'open') AS status, COUNT(*) AS n FROM orders GROUP BY 1", "", 3,
			"(none)"},
		{"two measures of a name", "SELECT status, MIN(total) AS low, MAX(total) AS high FROM orders GROUP BY status", "", 6,
			"high"},
		{"pairs of numbers", "SELECT COUNT(*) AS orders, SUM(total) AS spent FROM orders GROUP BY customer_id", "", 40,
			"orders"},
	} {
		_, r := s.do(t, "/api/query", map[string]any{"sql": test.sql}, nil)
		b := s.tab(t, desk, "/#c/"+r["id"].(string))
		b.until("document.querySelectorAll('figure svg .block, figure svg .dot').length > 0")
		if test.kind != "" {
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const pick = document.querySelector('figure select');
				pick.value = %q; pick.dispatchEvent(new Event('change')); } undefined`, test.kind)))
		} else if parts := test.why == "a group that is NULL"; parts != eval[bool](b,
			"[...document.querySelectorAll('figure option')].some((o) => o.value === 'share')") {
			t.Errorf("%s: shares where values are no parts, or none where they are", test.why)
		}
		b.until(fmt.Sprintf("document.querySelectorAll('figure .block, figure .dot').length === %d", test.marks))
		b.until(fmt.Sprintf("document.querySelector('figure').textContent.includes(%q)", test.says))
		b.axe(test.why)
		b.clean()
	}
}

// crossing is a value for each of two years and three states.
const crossing = "SELECT strftime('%Y', ordered_on) AS year, status, SUM(total) AS revenue FROM orders " +
	"WHERE ordered_on < '2026-01-01' GROUP BY 1, 2"

// TestRoom: header and list stay where a page is scrolled, a chart stands beside its rows on a wide window and above
// them on a phone, and the editor completes names of the schema.
func TestRoom(t *testing.T) {
	s := openWith(t, store, nil)
	id := s.asked(t, "", "What was the revenue by month in 2025?").ID
	for name, l := range map[string]look{"wide": desk, "phone": {390, false}} {
		b := s.tab(t, l, "/#c/"+id)
		b.until("document.querySelector('.charts svg') !== null && document.querySelectorAll('tbody tr').length === 12")
		b.run(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 500); undefined"))
		if stays := eval[bool](b,
			"document.querySelector('header').getBoundingClientRect().top === 0"); stays != (name == "wide") {
			t.Errorf("%s: the header stays: %v", name, stays)
		}
		beside := eval[bool](b,
			`document.querySelector('.rows').getBoundingClientRect().left > document.querySelector('.charts').getBoundingClientRect().right`)
		if beside != (name == "wide") {
			t.Errorf("%s: the rows stand beside the chart: %v", name, beside)
		}
		b.click("Edit SQL and run it")
		b.write("SELECT name FROM ")
		b.keys("custo")
		b.until("[...document.querySelector('.editor').shadowRoot.querySelectorAll('[role=option]')].some((o) => " +
			"o.textContent.startsWith('customers'))")
		b.clean()
	}
}

// TestAxes: the axis of numbers reaches the highest value, that of time names months under their year and keeps room
// for those that are missing, and a kind that was chosen stays.
func TestAxes(t *testing.T) {
	s := openWith(t, store, nil)
	_, r := s.do(t, "/api/query",
		map[string]any{"sql": "SELECT strftime('%Y-%m', ordered_on) AS month, COUNT(*) AS orders FROM orders " +
			"WHERE ordered_on >= '2024-01-01' AND ordered_on < '2025-01-01' AND strftime('%m', ordered_on) NOT IN ('03', " +
			"'04') " +
			"GROUP BY 1 ORDER BY 1"}, nil)
	id := r["id"].(string)
	b := s.tab(t, desk, "/#c/"+id)
	b.until("document.querySelectorAll('figure svg .curve').length === 1")
	texts := eval[[]string](b, "[...document.querySelectorAll('figure > svg text')].map((e) => e.textContent)")
	for _, want := range []string{"orders", "150", "Jan", "May", "2024"} { // the highest month has 128
		if !slices.Contains(texts, want) {
			t.Errorf("no %q in %q", want, texts)
		}
	}
	if moves := eval[int](b, "document.querySelector('figure .curve').getAttribute('d').match(/M/g).length"); moves != 2 {
		t.Errorf("%d parts of a line with one gap", moves)
	}
	apart := eval[float64](b, "document.querySelector('figure > svg').getBoundingClientRect().height - "+
		"document.querySelector('.scroll').offsetHeight")
	if apart < -1 || apart > 60 {
		t.Errorf("the chart is %v higher than its rows", apart) // 320 at least
	}
	b.run(chromedp.Evaluate[chromedp.Void](`{ const pick = document.querySelector('figure select');
		pick.value = 'columns'; pick.dispatchEvent(new Event('change')); } undefined`))
	b.until("document.querySelectorAll('figure .block').length === 10")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = ''; undefined"))
	b.at("Your question")
	b.run(chromedp.Evaluate[chromedp.Void]("location.hash = 'c/" + id + "'; undefined"))
	b.until("document.querySelectorAll('figure .block').length === 10")
	b.clean()
}
