// Pictures makes the recordings of a terminal in docs/pictures: it runs the command on the shop of the examples, with a
// server of scripted replies as its model, and writes what it printed, and when, as SVG.
//
//	go run ./internal/pictures
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// recordings are the commands of each picture, as a person types them in a folder with shop.db.
var recordings = map[string][]string{
	"ask.svg": {`texttosql ask --db shop.db "Which customers in the USA never ordered?"`},
	"refused.svg": {
		`texttosql ask --db shop.db "Delete the customers who never ordered"`,
		`texttosql check --db shop.db "SELECT name FROM customers; DELETE FROM customers"`,
		`texttosql sql --db shop.db "SELECT count(*) AS customers FROM customers"`,
	},
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "./cmd/texttosql", "./examples/quickstart")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	if err := exec.CommandContext(ctx, filepath.Join(dir, "quickstart"), "-write-db",
		filepath.Join(dir, "shop.db")).Run(); err != nil {
		return err
	}
	script, err := os.ReadFile("examples/shop/replies.json")
	if err != nil {
		return err
	}
	var listed []struct {
		Question string
		Replies  map[string][]string
	}
	if err := json.Unmarshal(script, &listed); err != nil {
		return err
	}
	var calls atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prompt, _ := io.ReadAll(r.Body)
		replies := []string{"DELETE FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)"}
		for _, e := range listed {
			if strings.Contains(string(prompt), e.Question) {
				replies = e.Replies["generate"]
			}
		}
		time.Sleep(400 * time.Millisecond) // as long as a quick model takes
		text, _ := json.Marshal(replies[int(calls.Add(1)-1)%len(replies)])
		fmt.Fprintf(w,
			`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":520,"completion_tokens":30}}`, text)
	}))
	defer model.Close()
	for name, commands := range recordings {
		var all []line
		at := 500 * time.Millisecond
		for _, command := range commands {
			calls.Store(0)
			all = append(all, line{at, "$ " + command})
			at += time.Second
			c := exec.CommandContext(ctx, "sh", "-c", command+" 2>&1")
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TEXTTOSQL_MODEL=openai:scripted",
				"OPENAI_API_KEY=none", "OPENAI_BASE_URL="+model.URL)
			out, err := c.StdoutPipe()
			if err != nil {
				return err
			}
			start := time.Now()
			if err := c.Start(); err != nil {
				return err
			}
			took := time.Duration(0)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				took = time.Since(start)
				all = append(all, line{at + took, lines.Text()})
			}
			if err := c.Wait(); err != nil { // an exit code is part of the picture
				all = append(all, line{at + took, "(" + err.Error() + ")"})
			}
			at += took + time.Second
			all = append(all, line{at, ""})
		}
		if err := os.WriteFile(filepath.Join("docs", "pictures", name), []byte(picture(all)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// line is one line of a terminal.
type line struct {
	at   time.Duration
	text string
}

const columns, high, wide = 104, 19, 882 // characters, and pixels of a line and of the picture

// picture draws the lines, each of which appears at its time. A reader that does not animate shows all.
func picture(lines []line) string {
	var wrapped []line
	for _, l := range lines {
		for text := []rune(l.text); ; {
			if len(text) <= columns {
				wrapped = append(wrapped, line{l.at, string(text)})
				break
			}
			cut := columns
			for i := columns; i > columns/2; i-- {
				if text[i] == ' ' {
					cut = i
					break
				}
			}
			wrapped = append(wrapped, line{l.at, string(text[:cut])})
			text = append([]rune("    "), []rune(strings.TrimSpace(string(text[cut:])))...)
		}
	}
	var b strings.Builder
	width, height := wide, len(wrapped)*high+40
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<style>text{font:13.5px ui-monospace,Menlo,Consolas,monospace;fill:#d7dde5;white-space:pre;animation:a .1s both}.c{fill:#8fd3a8}@keyframes a{from{opacity:0}}
@media (prefers-reduced-motion:reduce){text{animation:none}}</style>
<rect width="100%%" height="100%%" rx="8" fill="#1c2330"/>
`, width, height)
	for i, l := range wrapped {
		if l.text == "" {
			continue
		}
		class := ""
		if strings.HasPrefix(l.text, "$ ") {
			class = ` class="c"`
		}
		fmt.Fprintf(&b, "<text%s x=\"20\" y=\"%d\" style=\"animation-delay:%.1fs\">%s</text>\n", class, 32+i*high,
			l.at.Seconds(), html.EscapeString(l.text))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
