package web

import (
	"fmt"
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
		{"a group that is NULL", "SELECT NULLIF(status, 'open') AS status, COUNT(*) AS n FROM orders GROUP BY 1", "", 3, "(none)"},
		{"two measures of a name", "SELECT status, MIN(total) AS low, MAX(total) AS high FROM orders GROUP BY status", "", 6, "high"},
		{"pairs of numbers", "SELECT COUNT(*) AS orders, SUM(total) AS spent FROM orders GROUP BY customer_id", "", 40, "orders"},
	} {
		_, r := s.do(t, "/api/query", map[string]any{"sql": test.sql}, nil)
		b := s.tab(t, desk, "/#c/"+r["id"].(string))
		b.until("document.querySelectorAll('figure svg .block, figure svg .dot').length > 0")
		if test.kind != "" {
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const pick = document.querySelector('figure select');
				pick.value = %q; pick.dispatchEvent(new Event('change')); } undefined`, test.kind)))
		} else if eval[bool](b, "[...document.querySelectorAll('figure option')].some((o) => o.value === 'share')") != (test.why == "a group that is NULL") {
			t.Errorf("%s: shares where values are no parts, or none where they are", test.why)
		}
		b.until(fmt.Sprintf("document.querySelectorAll('figure .block, figure .dot').length === %d", test.marks))
		b.until(fmt.Sprintf("document.querySelector('figure').textContent.includes(%q)", test.says))
		b.axe(test.why)
		b.clean()
	}
}

// crossing is a value for each of two years and three states.
const crossing = "SELECT strftime('%Y', ordered_on) AS year, status, SUM(total) AS revenue FROM orders WHERE ordered_on < '2026-01-01' GROUP BY 1, 2"

// TestRoom: header and list stay where a page is scrolled, a chart stands beside its rows on a wide window and above them on a phone,
// and the editor completes names of the schema.
func TestRoom(t *testing.T) {
	s := openWith(t, store, nil)
	id := s.asked(t, "", "What was the revenue by month in 2025?").ID
	for name, l := range map[string]look{"wide": desk, "phone": {390, false}} {
		b := s.tab(t, l, "/#c/"+id)
		b.until("document.querySelector('.charts svg') !== null && document.querySelectorAll('tbody tr').length === 12")
		b.run(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 500); undefined"))
		if stays := eval[bool](b, "document.querySelector('header').getBoundingClientRect().top === 0"); stays != (name == "wide") {
			t.Errorf("%s: the header stays: %v", name, stays)
		}
		beside := eval[bool](b, `document.querySelector('.rows').getBoundingClientRect().left > document.querySelector('.charts').getBoundingClientRect().right`)
		if beside != (name == "wide") {
			t.Errorf("%s: the rows stand beside the chart: %v", name, beside)
		}
		b.click("Edit the SQL and run it")
		b.write("SELECT name FROM ")
		b.keys("custo")
		b.until("[...document.querySelector('.editor').shadowRoot.querySelectorAll('[role=option]')].some((o) => o.textContent.startsWith('customers'))")
		b.clean()
	}
}
