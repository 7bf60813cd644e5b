package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// pale lists the visible texts whose contrast with what is behind them is below 4.5.
const pale = `(() => {
	const parts = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => { const [r, g, b] = parts(c).slice(0, 3).map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b; };
	const behind = (e) => {
		for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = parts(c); if (p.length < 4 || p[3] > 0) return c; }
		return 'rgb(255, 255, 255)'; };
	const found = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest('.unseen, script, noscript, title, :disabled')) continue;
		const style = getComputedStyle(e), color = e.closest('svg') ? style.fill : style.color;
		const [a, b] = [light(color), light(behind(e))].sort((x, y) => y - x);
		if ((a + .05) / (b + .05) < 4.5) found.push(walk.currentNode.data.trim().slice(0, 40) + ': ' + color + ' on ' + behind(e));
	}
	return found;
})()`

// wide lists the elements that stick out of the window.
const wide = `(() => document.documentElement.scrollWidth <= innerWidth ? [] : ['the page is ' + document.documentElement.scrollWidth + ' wide',
	...[...document.querySelectorAll('body *')].filter((e) => e.scrollWidth > e.clientWidth && e.clientWidth > 0).map((e) => e.tagName + '.' + e.className)])()`

// TestLooks: each state of the page in three looks: nothing sticks out, all can be read, and everything has a name.
// With TEXTTOSQL_PICTURES=FOLDER it writes screenshots.
func TestLooks(t *testing.T) {
	s := open(t, nil)
	testutil.Value(s.db.Exec("CREATE TABLE a_table_with_a_name_that_goes_on_and_on_without_any_blank " +
		"(a_column_that_does_so_too_and_even_longer INT)"))(t)
	line, bars := s.asked(t, "", "What was sold each day?").ID, s.asked(t, "", "How much did each region?").ID
	asked := s.asked(t, "", "Which sale was the largest?").ID
	none := s.asked(t, "", "What is the weather?").ID
	hostile := s.asked(t, "", attack).ID
	one := s.asked(t, "", "How many in the north?").ID
	s.asked(t, one, "And in the south?")
	release := s.model.hold()
	defer release()
	_, r := s.do(t, "/api/conversations", map[string]any{"question": "Who are the clerks?"}, nil)
	busy := r["id"].(string)
	for name, l := range map[string]look{"desk": {1280, false}, "phone": {390, false}, "dark": {1280, true}} {
		b := s.tab(t, l, "/")
		for _, state := range []struct {
			name, at, shows string
			charts          int
		}{
			{"empty", "", "Your question", 0}, {"line", "c/" + line, "amount by day", 1},
			{"bars", "c/" + bars, "amount by region", 1},
			{"choice", "c/" + asked, "This one", 0}, {"error", "c/" + none, "Try again", 0},
			{"asking", "c/" + busy, "Asking the model", 0},
			{"one", "c/" + one, "Why?", 0}, {"hostile", "c/" + hostile, "head</u>", 0},
			{"schema", "schema", "goes_on_and_on", 0},
			{"missing", "c/" + strings.Repeat("0", 32), "no such conversation", 0},
		} {
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q; undefined", state.at)))
			b.shows(state.shows)
			b.run(chromedp.Evaluate[chromedp.Void]("document.querySelectorAll('#turns details, #actions details').forEach((d) " +
				"=> d.open = true); undefined"))
			for what, list := range map[string]string{"too pale": pale, "too wide": wide} {
				if found := eval[[]string](b, list); len(found) > 0 {
					t.Errorf("%s, %s: %s: %q", name, state.name, what, found)
				}
			}
			if n := eval[int](b,
				"[...document.querySelectorAll('figure svg')].filter((f) => f.checkVisibility()).length"); n != state.charts {
				t.Errorf("%s, %s: %d charts, want %d", name, state.name, n, state.charts)
			}
			b.named(name + ", " + state.name)
			b.picture(name + "-" + state.name)
		}
		if back := eval[string](b,
			"getComputedStyle(document.body).backgroundColor"); (back == "rgb(255, 255, 255)") == l.dark {
			t.Errorf("%s: the background is %s", name, back)
		}
		b.clean()
	}
}

// named checks in the accessibility tree that everything that can be used or is a landmark has a name.
func (b *tab) named(where string) {
	b.t.Helper()
	var nodes []*accessibility.Node
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		res, err := cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		nodes = res.Nodes
		return err
	}))
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `"`)
	}
	count := map[string]int{}
	for _, n := range nodes {
		if n.Ignored {
			continue
		}
		role := text(n.Role)
		count[role]++
		switch role {
		case "button", "link", "textbox", "combobox", "navigation", "region", "article", "image", "columnheader", "rowheader",
			"heading", "DisclosureTriangle":
			if strings.TrimSpace(text(n.Name)) == "" {
				b.t.Errorf("%s: a %s without a name", where, role)
			}
		}
	}
	if n := eval[int](b,
		"[...document.querySelectorAll('.scroll')].filter((e) => e.checkVisibility()).length"); count["region"] < n ||
		count["table"] < n {
		// a region without a name is none
		b.t.Errorf("%s: %d tables in %d regions, want %d", where, count["table"], count["region"], n)
	}
	if n := eval[int](b, "[...document.querySelectorAll('input, select, textarea')].filter((e) => e.checkVisibility() "+
		"&& !e.labels.length).length"); n > 0 {
		b.t.Errorf("%s: %d fields without a label", where, n)
	}
	if count["main"] != 1 || count["banner"] != 1 || count["navigation"] != 2 || count["status"] != 1 ||
		count["heading"] == 0 {
		b.t.Errorf("%s: landmarks: %v", where, count)
	}
}
