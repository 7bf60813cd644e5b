package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// watcher runs before the page's own script: it notes what the policy refuses and what fails.
const watcher = `window.refused = []; window.ran = 0;
document.addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample));
addEventListener('error', (e) => refused.push('error: ' + e.message)); addEventListener('unhandledrejection', (e) => refused.push('rejected: ' + e.reason));`

// chromium starts a browser. Without one the test is skipped, and fails under CI.
var chromium = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium: apt-get install chromium")
})

// browser is one for all tests; each has tabs of its own.
var browser struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.end != nil {
		browser.end()
	}
	os.Exit(code)
}

// tab is a tab of a browser, at the address of a server.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// look says how a tab looks.
type look struct {
	width int64
	dark  bool
}

func (s *shop) tab(t *testing.T, l look, path string) *tab {
	t.Helper()
	program, err := chromium()
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	browser.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
			chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-GB"))
		allocated, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocated)
		browser.ctx, browser.end = ctx, func() { cancel(); end() }
		browser.err = chromedp.Do(ctx)
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	ctx, late := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() { late(); cancel() })
	b := &tab{t, ctx}
	b.prepare(l)
	b.run(chromedp.Navigate(s.URL + path))
	return b
}

// beside opens another tab of the same browser.
func (b *tab) beside(l look, url string) *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	other := &tab{b.t, ctx}
	other.prepare(l)
	other.run(chromedp.Navigate(url))
	return other
}

func (b *tab) prepare(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
		_, merr := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: 900, DeviceScaleFactor: 1})
		_, cerr := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return errors.Join(err, merr, cerr)
	}))
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression of the page says.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits until an expression of the page holds.
func (b *tab) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx,
		chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		b.t.Fatalf("never: %s: %v\nrefused: %v\nthe page shows:\n%s", expression, err, eval[[]string](b, "refused"),
			eval[string](b, "document.body.innerText"))
	}
}

// shows waits until the page shows a text.
func (b *tab) shows(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// clean fails if a text ran or the policy refused something.
func (b *tab) clean() {
	b.t.Helper()
	if refused := eval[[]string](b, "refused"); len(refused) > 0 {
		b.t.Errorf("refused: %s", strings.Join(refused, "\n"))
	}
	if ran := eval[int](b, "window.ran"); ran != 0 {
		b.t.Errorf("text %d ran", ran)
	}
	if n := eval[int](b, "document.querySelectorAll('img, script, iframe, object, embed, link, base, u, i, [onclick], "+
		"[onerror], [style]').length"); n != 4 {
		b.t.Errorf("%d elements came from texts", n-4) // the page has three scripts and a link to its icon
	}
}

// keys types where the focus is.
func (b *tab) keys(keys string) {
	b.t.Helper()
	b.run(chromedp.KeyEvent(keys))
}

// focused is the name of what has the focus.
const focused = `(() => { let e = document.activeElement; while (e.shadowRoot) e = e.shadowRoot.activeElement;
	return e.labels && e.labels.length ? e.labels[0].innerText : e.getAttribute('aria-label') || e.innerText.replace(/\s+/g, ' '); })()`

// at fails unless what has the focus has a name.
func (b *tab) at(name string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s.trim() === %q", focused, name))
}

// goTo moves the focus by the tabulator alone to what has a name.
func (b *tab) goTo(name string) {
	b.t.Helper()
	var seen []string
	for range 120 {
		b.keys(kb.Tab)
		at := eval[string](b, focused)
		if seen = append(seen, at); strings.TrimSpace(at) == name {
			if !eval[bool](b,
				`document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle !== 'none'`) {
				b.t.Errorf("the focus on %q is not visible", name)
			}
			return
		}
	}
	b.t.Fatalf("the tabulator does not lead to %q but to %q", name, seen)
}

// picture writes a screenshot where TEXTTOSQL_PICTURES says, for people to look at.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("TEXTTOSQL_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
