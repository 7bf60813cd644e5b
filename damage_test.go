package texttosql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestFlippedBits: of 2,000 files with one flipped bit none is read as something that was not written. It is read as what
// was written, it is a typed error, or its last line lost its end and is left out, as after a crash.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	store := need.Value(session.OpenFiles(in("sessions")))(t)
	lessons := need.Value(memory.OpenLessons(in("lessons.json")))(t)
	confirmed := need.Value(memory.OpenConfirmed(in("confirmed.jsonl")))(t)
	rec := need.Value(replay.Append(in("replay.jsonl")))(t)
	var asked []llm.Request
	model := llm.Named("m", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		asked = append(asked, req)
		resp, err := (&provider{}).Complete(ctx, req)
		resp.Text += fmt.Sprintf(" -- %d", len(asked))
		return resp, err
	}))
	e := need.Value(texttosql.New(open(t, shop), llm.Chain(model, rec.Record), texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithMemory(memory.Options{Lessons: lessons, Confirmed: confirmed})))(t)
	talk := converse(t, e, store, "")
	_, err := talk.Ask(t.Context(), "Who lives in the motherland {of Jane}?")
	for _, text := range []string{"motherland means customers.country", "Jane means customers.name"} {
		if err == nil {
			_, err = talk.Correct(t.Context(), text)
		}
	}
	for _, question := range []string{"", "Who is in the USA?", "Which customers\tare at home \\ there?"} {
		if err == nil {
			err = talk.Confirm(t.Context(), question)
		}
	}
	need.OK(t, errors.Join(err, rec.Close(), confirmed.Close()))
	id := talk.Record().ID

	played := func(p *replay.Player, err error) ([]string, error) {
		var replies []string
		for _, req := range asked {
			if err == nil {
				resp, missing := p.Model("m").Complete(t.Context(), req)
				replies = append(replies, fmt.Sprint(resp, missing))
			}
		}
		return replies, err
	}
	kinds := []struct {
		path  string
		torn  bool // what follows the last line end is left out
		items func() ([]string, error)
	}{
		{in("sessions/" + id + ".json"), false, func() ([]string, error) {
			r, err := store.Load(t.Context(), id)
			return texts(t, []session.Record{r}), err
		}},
		{in("sessions/" + id + ".jsonl"), true, func() ([]string, error) {
			log := need.Value(store.Journal(t.Context(), id))(t)
			lines := need.Value(log.Read())(t)
			return played(replay.NewPlayer(bytes.NewReader(lines)))
		}},
		{in("replay.jsonl"), true, func() ([]string, error) {
			p, err := replay.Open(in("replay.jsonl"))
			replies, err := played(p, err)
			if err == nil && len(p.Notes()) > 0 {
				replies = replies[:len(replies)-1]
			}
			return replies, err
		}},
		{in("confirmed.jsonl"), true, func() ([]string, error) {
			c, err := memory.OpenConfirmed(in("confirmed.jsonl"))
			if err != nil {
				return nil, err
			}
			defer c.Close()
			pairs, err := c.Pairs()
			return texts(t, pairs), err
		}},
		{in("lessons.json"), false, func() ([]string, error) {
			l, err := memory.OpenLessons(in("lessons.json"))
			if err != nil {
				return nil, err
			}
			list, err := l.All()
			return texts(t, list), err
		}},
	}
	random := rand.New(rand.NewPCG(25, 3))
	for _, kind := range kinds {
		name := strings.TrimPrefix(kind.path, dir)
		good := need.Value(os.ReadFile(kind.path))(t)
		want, err := kind.items()
		if err != nil || len(slices.Compact(slices.Clone(want))) != len(want) || len(want) == 0 {
			t.Fatalf("%s: %q, %v", name, want, err)
		}
		told := map[string]int{}
		for range 400 {
			bit := random.IntN(8 * len(good))
			bad := bytes.Clone(good)
			bad[bit/8] ^= 1 << (bit % 8)
			need.OK(t, os.WriteFile(kind.path, bad, 0o600))
			got, err := kind.items()
			switch {
			case errors.As(err, new(*session.RecordError)), errors.As(err, new(*replay.LineError)),
				errors.As(err, new(*memory.PairError)), errors.As(err, new(*memory.LessonError)):
				told["refused"]++
			case err != nil:
				t.Errorf("%s, bit %d: %v", name, bit, err)
			case slices.Equal(got, want):
				told["equal"]++
			case kind.torn && bit/8 == len(good)-1:
				told["torn"]++
			default:
				t.Errorf("%s, bit %d:\n%q is read as\n%q", name, bit, want, got)
			}
		}
		t.Log(name, told)
		if told["refused"] < 350 { // the checksum itself is a small part of a file
			t.Errorf("%s: %v", name, told)
		}
	}
}

// TestDamagedJournal: a conversation whose recorded replies were changed asks no model and does not go on with them.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	store := need.Value(session.OpenFiles(dir))(t)
	model := &provider{}
	e := talking(t, model)
	talk := converse(t, e, store, "")
	need.Value(talk.Ask(t.Context(), "Who lives in the USA?"))(t)
	id, calls := talk.Record().ID, len(model.calls)
	path := filepath.Join(dir, id+".jsonl")
	text := need.Value(os.ReadFile(path))(t)
	need.OK(t, os.WriteFile(path, bytes.Replace(text, []byte("'USA'"), []byte("'USB'"), 1), 0o600))
	_, err := converse(t, e, store, id).Ask(t.Context(), "And how many?")
	var line *replay.LineError
	if !errors.As(err, &line) || !strings.Contains(err.Error(), id) || len(model.calls) != calls {
		t.Errorf("%d calls, then %d: %v", calls, len(model.calls), err)
	}
	if f := texttosql.Failure(err); f.Message != "The record of this conversation cannot be read." || f.Advice != "Begin another one." {
		t.Errorf("%+v", f)
	}
}

// texts are the items of a list as JSON.
func texts[T any](t *testing.T, list []T) (all []string) {
	t.Helper()
	for _, item := range list {
		text := need.Value(json.Marshal(item))(t)
		all = append(all, string(text))
	}
	return all
}
