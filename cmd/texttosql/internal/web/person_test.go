package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var desk = look{1280, false}

// TestKeyboard: a whole conversation without a mouse. The focus goes to each new answer.
func TestKeyboard(t *testing.T) {
	s := open(t, nil)
	b := s.tab(t, desk, "/")
	b.at("Your question")
	b.keys("Which sale was" + kb.Enter)
	b.shows("No answer") // the model knows no such question
	b.goTo("A follow-up question")
	b.keys("Which sale was the largest?" + kb.Enter)
	b.at("The answers disagree; which one is meant?")
	b.goTo("This one")
	b.keys(kb.Enter)
	b.answered()
	b.shows("210")
	b.goTo("SQL")
	b.keys(kb.Enter)
	b.goTo("Copy the SQL")
	b.keys(kb.Enter)
	b.until("/^(Copied|Selected)/.test(document.getElementById('status').textContent)")
	b.goTo("A follow-up question")
	b.keys("And in the south?" + kb.Enter)
	b.answered()
	b.goTo("Why?")
	b.keys(kb.Enter)
	b.shows("Answer 1: 1 row of 1 column, chosen")
	b.goTo("✗ Wrong")
	b.keys(kb.Enter)
	b.goTo("In your own words")
	b.keys("only those of clerk 1" + kb.Enter)
	b.shows("You corrected")
	b.answered()
	b.goTo("✓ Right")
	b.keys(kb.Enter)
	b.at("The question, said so that it can be understood alone")
	b.keys("How many sales of clerk 1 were in the south?" + kb.Enter)
	b.shows("Confirmed by you")

	release := s.model.hold()
	defer release()
	b.goTo("A follow-up question")
	b.keys("How many in the north?" + kb.Enter)
	b.at("Finding the answer")
	b.shows("Asking the model")
	b.keys(kb.Escape)
	b.at("Not answered yet")
	release()
	b.goTo("Go on")
	b.keys(kb.Enter)
	b.answered()
	b.goTo("Tables")
	b.keys(kb.Enter)
	b.at("Tables")
	b.goTo("Find a table or column")
	b.keys("clerk_id")
	b.shows("Some rows") // the only one that has it is open
	b.goTo("New question")
	b.keys(kb.Enter)
	b.at("Your question")
	b.shows("How many sales of clerk 1 were in the south?") // offered again
	b.clean()
}

// TestForms: each kind of correction that the page has a form for reaches the record as it was meant.
func TestForms(t *testing.T) {
	s := open(t, nil)
	b := s.tab(t, desk, "/")
	for _, tt := range []struct {
		kind    string
		fields  map[string]string
		meaning string
	}{
		{"table", map[string]string{"right": "sales", "wrong": "clerks"}, "read sales; do not read clerks"},
		{"join", map[string]string{"left": "sales.clerk_id", "right": "clerks.id"}, "join by sales.clerk_id = clerks.id"},
		{"column", map[string]string{"term": "<b>north</b>", "column": "sales.region"}, "“<b>north</b>” means sales.region"},
		{"filter", map[string]string{"text": "only those above 100"}, "filter: only those above 100"},
		{"logic", map[string]string{"text": "a sale counts once"}, "rule: a sale counts once"},
		{"words", map[string]string{"text": "<i>I mean all</i>"}, "<i>I mean all</i>"},
	} {
		id := s.asked(t, "", "How many in the north?").ID
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = 'c/%s'; undefined", id)))
		b.until(fmt.Sprintf("location.hash === '#c/%s' && document.querySelectorAll('article').length === 1 && "+
			"document.querySelector('article .panel form select') !== null", id))
		script := "document.querySelector('article .panel').hidden = false; const pick = document.querySelector('article " +
			".panel select');" +
			fmt.Sprintf("pick.value = %q; pick.dispatchEvent(new Event('change'));", tt.kind)
		for name, value := range tt.fields {
			script += fmt.Sprintf("document.querySelector('article .panel [name=%s]').value = %q;", name, value)
		}
		b.run(chromedp.Evaluate[chromedp.Void]("{" + script + "document.querySelector('article .panel " +
			"form:has(select)').requestSubmit(); undefined}"))
		b.until(fmt.Sprintf("document.querySelectorAll('article').length === 2 && document.body.innerText.includes(%q)",
			tt.meaning))
	}
	b.clean()
}

// TestReload: a page that is loaded again in the middle finds the question that runs, and a server that was started
// again leaves the page where it goes on.
func TestReload(t *testing.T) {
	s := open(t, nil)
	release := s.model.hold()
	b := s.tab(t, desk, "/")
	b.at("Your question")
	b.keys("How many in the north?" + kb.Enter)
	b.shows("Asking the model")
	before := s.model.called()
	b.run(chromedp.Reload())
	b.shows("Asking the model")
	release()
	b.shows("Why?")
	if after := s.model.called(); after != before && before == 0 {
		t.Errorf("%d calls, then %d", before, after)
	}
	b.run(chromedp.Reload())
	b.shows("Why?")

	release = s.model.hold()
	b.goTo("A follow-up question")
	b.keys("And in the south?" + kb.Enter)
	b.shows("Asking the model")
	s.end()
	release()
	s.start(t, nil)
	b.shows("Go on")
	b.run(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('button')].find((e) => e.innerText === 'Go " +
		"on').click()"))
	b.until("document.querySelectorAll('article:last-child [data-goal]').length === 1 && " +
		"document.querySelector('#progress').hidden")
	b.shows("Why?")
	b.until("document.getElementById('problem').hidden")
	if refused := eval[[]string](b, "refused"); len(refused) > 0 {
		t.Error(refused)
	}
}

// TestTwoTabs: two tabs in one conversation see the same. Where one asks what cannot be asked now, it is told why.
func TestTwoTabs(t *testing.T) {
	s := open(t, nil)
	c := s.asked(t, "", "How many in the north?")
	one := s.tab(t, desk, "/#c/"+c.ID)
	two := one.beside(desk, s.URL+"/#c/"+c.ID)
	one.shows("Why?")
	two.shows("Why?")
	one.goTo("A follow-up question")
	one.keys("And in the south?" + kb.Enter)
	two.until("document.querySelectorAll('article').length === 2 && document.body.innerText.includes('South')")

	// A third tab hears nothing, as behind a broken connection.
	three := one.beside(desk, s.URL+"/")
	three.run(chromedp.Evaluate[chromedp.Void]("window.EventSource = class { close() {} }; location.hash = 'c/" + c.ID +
		"'; undefined"))
	three.shows("Why?")
	release := s.model.hold()
	defer release()
	two.goTo("A follow-up question")
	two.keys("How many in the north?" + kb.Enter)
	two.shows("Asking the model")
	three.goTo("A follow-up question")
	three.keys("And in the south?" + kb.Enter)
	three.shows("answering a question already")
	three.shows("Finding the answer") // and sees what it did not know
	release()
	one.until("document.querySelectorAll('article').length === 3 && document.querySelector('#progress').hidden")
	for _, b := range []*tab{one, two, three} {
		b.clean()
	}
}

// TestGate: with a token the page asks for it, and then shows everything, the page of an answer included; a link to an
// answer too, to a browser that has to show the token first.
func TestGate(t *testing.T) {
	const token = "a token of the tests"
	s := open(t, func(c *Config) { c.Door.Token = token })
	b := s.tab(t, desk, "/")
	b.at("Token")
	b.keys("another token, wrong" + kb.Enter)
	b.shows("not the token")
	b.keys(strings.Repeat(kb.Backspace, 20) + token + kb.Enter)
	b.at("Your question")
	b.keys("What was sold each day?" + kb.Enter)
	b.answered()
	if text := eval[string](b, "document.cookie + location.href"); strings.Contains(text, "token") ||
		strings.Contains(text, cookie+"=") {
		t.Error(text)
	}
	b.clean()
	link := eval[string](b, "location.href") + "/0" // as "Copy link" has it
	b.run(chromedp.Navigate(s.URL + eval[string](b, "document.querySelector('article a[target]').getAttribute('href')")))
	b.shows("How it was found")
	if got := eval[string](b, "getComputedStyle(document.querySelector('main')).maxWidth + refused"); got != "1216px" {
		t.Errorf("the page of the answer has no style, or something was refused: %s", got)
	}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.ClearBrowserCookies, cdp.Empty{})
		return err
	}), chromedp.Navigate(link))
	b.at("Token")
	b.keys(token + kb.Enter)
	b.shows("What was sold each day?")
	b.until("document.querySelectorAll('article').length === 1")
}
