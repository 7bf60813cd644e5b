package texttosql_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

// TestRootPage: what "go doc" shows of the package stays short enough to find New in it.
func TestRootPage(t *testing.T) {
	page := string(need.Value(os.ReadFile("api/texttosql.txt"))(t))
	options := regexp.MustCompile(`(?m)^func With.*`).FindAllString(page, -1)
	if len(options) > 26 {
		t.Errorf("%d options, want at most 26: %s", len(options), strings.Join(options, "\n"))
	}
	for _, o := range options {
		if !strings.HasSuffix(o, ") Option") && !strings.HasSuffix(o, ") AskOption") {
			t.Errorf("a third kind of option: %s", o)
		}
	}
	for _, elsewhere := range []string{"FailureClass", "StateError", "InterruptedError", "ErrNotStandalone", "ErrForgotten"} {
		if strings.Contains(page, elsewhere) {
			t.Errorf("%s stands between a reader and New", elsewhere)
		}
	}
}

// TestMisplacedOptions: what belongs to one question is refused by New, and what belongs to New by a question.
func TestMisplacedOptions(t *testing.T) {
	db, store := open(t, shop), &memory.Confirmed{}
	for _, tt := range []struct {
		why, want string
		option    texttosql.AskOption
		ask       bool // given to Ask, else to New
	}{
		{"a scope is that of a question", "WithScope: it belongs to one question", texttosql.WithScope(texttosql.Scope{Key: "a"}), false},
		{"so is an id", "Question: it belongs to one question", texttosql.Question{ID: "a"}, false},
		{"so is evidence", "Question: it belongs to one question", texttosql.Question{Evidence: "a"}, false},
		{"a store is that of an engine", "WithMemory of one question has Off alone", texttosql.WithMemory(memory.Options{Confirmed: store}), true},
		{"so are exemplars", "WithMemory of one question has Off alone",
			texttosql.WithMemory(memory.Options{Off: true, Exemplars: []memory.Pair{{Question: "a", SQL: "SELECT 1"}}}), true},
		{"the question is said twice", "Question.Text is not the question", texttosql.Question{Text: "another"}, true},
		{"the question is said twice in one way", "", texttosql.Question{Text: whoInUSA}, true},
		{"memory is for both", "", texttosql.WithMemory(memory.Options{Off: true}), false},
		{"memory is for both", "", texttosql.WithMemory(memory.Options{Off: true}), true},
	} {
		var opts []texttosql.Option
		if !tt.ask {
			opts = append(opts, tt.option)
		}
		e, err := texttosql.New(db, always(usa), opts...)
		if tt.ask {
			_, err = e.Ask(t.Context(), whoInUSA, tt.option)
		}
		var config *strategy.ConfigError
		if (tt.want != "") != errors.As(err, &config) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	_, err := need.Value(texttosql.New(db, always(usa)))(t).NewConversation(nil).Ask(t.Context(), whoInUSA, texttosql.Question{ID: "mine"})
	if err == nil || !strings.Contains(err.Error(), "the id of the conversation") {
		t.Errorf("an id beside that of a conversation: %v", err)
	}
}

// TestLogIDs: every record of a question has its id, one that is made where the caller gave none, and two questions have two.
func TestLogIDs(t *testing.T) {
	var log bytes.Buffer
	var told []string
	e := engine(t, always(usa), texttosql.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		texttosql.WithProgress(func(p texttosql.Progress) { told = append(told, p.ID) }))
	id := regexp.MustCompile(` id=(\S+)`)
	seen := map[string]bool{}
	for _, ask := range []func() error{
		func() error { _, err := e.Ask(t.Context(), whoInUSA); return err },
		func() error { _, err := e.Ask(t.Context(), whoInUSA); return err },
		func() error { _, err := e.Query(t.Context(), usa); return err },
		func() error { _, err := e.Ask(t.Context(), whoInUSA, texttosql.Question{ID: "mine"}); return err },
	} {
		log.Reset()
		told = nil
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		var of string
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "texttosql: operator") { // of no question
				continue
			}
			found := id.FindStringSubmatch(line)
			if found == nil || of != "" && found[1] != of {
				t.Fatalf("want one id, %q: %s", of, line)
			}
			of = found[1]
		}
		if of == "" || seen[of] || told[0] != of {
			t.Errorf("the id %q, seen before: %v; progress has %q", of, seen[of], told[0])
		}
		seen[of] = true
	}
	if !seen["mine"] {
		t.Errorf("the caller's own id is not among %v", seen)
	}
}
