package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOwnPage: a statement of one's own without a question, after a refusal and after a cancel; it survives a kill, and its
// link opens it.
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
		b.at("Your own SQL, one statement that reads")
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.activeElement.value = %q; undefined", sql)))
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
	b.at("Answer")
	b.axe("own and answer")
	s.killed(t)
	b.shows("The server does not answer")
	s.start(t, nil)
	b.until("document.getElementById('lost').hidden && [...document.querySelectorAll('button')].some((e) => e.innerText === 'Show the rows') && " +
		"document.querySelector('article:last-child tbody td')?.innerText === '2'")
	b.run(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('button')].find((e) => e.innerText === 'Show the rows').click(); undefined"))
	b.until("document.querySelectorAll('article')[0]?.querySelectorAll('tbody tr').length === 4")

	b.run(chromedp.Evaluate[chromedp.Void]("navigator.clipboard.writeText = async (text) => { window.copied = text; }; undefined"))
	b.click("Copy link")
	b.shows("Copied")
	link := eval[string](b, "window.copied")
	if want := eval[string](b, "location.href") + "/0"; link != want {
		t.Errorf("the link is %s, want %s", link, want)
	}
	other := b.beside(desk, link)
	other.at("Your own statement")
	other.until("document.querySelectorAll('article').length === 5 && document.activeElement.closest('article')?.dataset.place === '0'")
	b.clean()
}
