package enginetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/damage"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// TestStoresDamaged: no file that the packages write is trusted once it has changed. It is read as what was written, it
// is a typed error, or a note names what is left out. The files of the program are in cmd/texttosql; TestStoresListed
// lists all.
func TestStoresDamaged(t *testing.T) {
	if race.Enabled {
		t.Skip("one file after the other: nothing for the race detector")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	store := testutil.Value(session.OpenFiles(in("sessions")))(t)
	lessons := testutil.Value(memory.OpenLessons(in("lessons.json")))(t)
	confirmed := testutil.Value(memory.OpenVerifiedAnswers(in("confirmed.jsonl")))(t)
	rec := testutil.Value(replay.Append(in("replay.jsonl")))(t)
	var asked []llm.Request
	model := llm.Named("m", llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		asked = append(asked, req)
		resp, err := (&provider{}).Complete(ctx, req)
		resp.Text += fmt.Sprintf(" -- %d", len(asked))
		return resp, err
	}))
	e := testutil.Value(texttosql.New(open(t, shop), llm.Chain(model, rec.Record),
		texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithMemory(memory.Options{Lessons: lessons, VerifiedAnswers: confirmed})))(t)
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
	vectors := func() *memory.Vectors {
		return &memory.Vectors{By: &lengths{}, Name: "m", File: in("vectors.json")}
	}
	_, embedded := vectors().EmbedDocuments(t.Context(), []string{"a", "bb"})
	testutil.OK(t, errors.Join(err, embedded, rec.Close(), confirmed.Close()))
	id := talk.Record().ID

	played := func(p *replay.Player, err error) (replies, notes []string, _ error) {
		if err != nil {
			return nil, nil, err
		}
		for _, req := range asked {
			resp, missing := p.Model("m").Complete(t.Context(), req)
			if missing == nil {
				replies = append(replies, fmt.Sprint(resp))
			}
		}
		return replies, p.Notes(), nil
	}
	found := func(warnings []trace.Warning) (notes []string) {
		for _, w := range warnings {
			notes = append(notes, w.Message)
		}
		return notes
	}
	revisions := revisionsOf(t, id, in("sessions/"+id+".json"))
	for _, s := range []damage.Store{
		{Path: in("sessions/" + id + ".json"), Grows: true, Read: func() (items, notes []string, err error) {
			root := trace.Tracer{}.New("load")
			r, err := store.Load(trace.NewContext(t.Context(), root), id)
			if err != nil {
				return nil, nil, err
			}
			items = texts(t, []session.Record{r})
			if at := slices.Index(revisions, items[0]); at >= 0 {
				items = revisions[:at+1]
			}
			return items, found(root.Warnings()), nil
		}},
		{Path: in("sessions/" + id + ".jsonl"), Grows: true, Read: func() (items, notes []string, err error) {
			root := trace.Tracer{}.New("journal")
			log, err := store.Journal(trace.NewContext(t.Context(), root), id)
			if err != nil {
				return nil, nil, err
			}
			items, notes, err = played(replay.NewPlayer(bytes.NewReader(testutil.Value(log.Read())(t))))
			if err != nil {
				err = fmt.Errorf("%s.jsonl: %w", id, err)
			}
			return items, append(notes, found(root.Warnings())...), err
		}},
		{Path: in("replay.jsonl"), Grows: true, Read: func() ([]string, []string, error) {
			return played(replay.Open(in("replay.jsonl")))
		}},
		{Path: in("confirmed.jsonl"), Grows: true, Read: func() (items, notes []string, err error) {
			c, err := memory.OpenVerifiedAnswers(in("confirmed.jsonl"))
			if err != nil {
				return nil, nil, err
			}
			defer c.Close()
			pairs, err := c.Pairs()
			return texts(t, pairs), c.Notes(), err
		}},
		{Path: in("lessons.json"), Read: func() (items, notes []string, err error) {
			l, err := memory.OpenLessons(in("lessons.json"))
			if err != nil {
				return nil, nil, err
			}
			list, err := l.All()
			return texts(t, list), l.Notes(), err
		}},
		{Path: in("vectors.json"), Read: func() (items, notes []string, err error) {
			v := vectors()
			v.By = nil // nothing is to be made
			list, err := v.EmbedDocuments(t.Context(), []string{"a", "bb"})
			return texts(t, list), nil, err
		}},
	} {
		t.Run(filepath.Base(s.Path), func(t *testing.T) {
			read := s.Read
			s.Read = func() ([]string, []string, error) {
				items, notes, err := read()
				typed := errors.As(err, new(*session.RecordError)) || errors.As(err, new(*fileerr.Recording)) ||
					errors.As(err, new(*fileerr.Memory))
				if err != nil && !typed && filepath.Base(s.Path) != "vectors.json" {
					t.Errorf("an error of no type: %v", err)
				}
				return items, notes, err
			}
			s.Check(t)
		})
	}
}

// revisionsOf returns the records of which a file of a session consists, oldest first.
func revisionsOf(t *testing.T, id, path string) (all []string) {
	t.Helper()
	var text []byte
	for line := range bytes.Lines(testutil.Value(os.ReadFile(path))(t)) {
		text = append(text, line...)
		var r session.Record
		testutil.OK(t, r.Decode(id, text))
		all = append(all, texts(t, []session.Record{r})...)
	}
	if len(all) < 2 {
		t.Errorf("the file has %d revisions", len(all))
	}
	return all
}

// lengths is an embedder of the length of a text.
type lengths struct{}

func (*lengths) EmbedQuery(context.Context, string) ([]float32, error) { return nil, nil }

func (*lengths) EmbedDocuments(_ context.Context, texts []string) (all [][]float32, _ error) {
	for _, text := range texts {
		all = append(all, []float32{float32(len(text)), .5})
	}
	return all, nil
}

// TestDamagedJournal: a conversation whose recorded replies were changed asks no model and does not go on with them.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	store := testutil.Value(session.OpenFiles(dir))(t)
	model := &provider{}
	e := talking(t, model)
	talk := converse(t, e, store, "")
	testutil.Value(talk.Ask(t.Context(), "Who lives in the USA?"))(t)
	id, calls := talk.Record().ID, len(model.calls)
	path := filepath.Join(dir, id+".jsonl")
	text := testutil.Value(os.ReadFile(path))(t)
	testutil.OK(t, os.WriteFile(path, bytes.Replace(text, []byte("'USA'"), []byte("'USB'"), 1), 0o600))
	_, err := converse(t, e, store, id).Ask(t.Context(), "And how many?")
	var line *fileerr.Recording
	if !errors.As(err, &line) || !strings.Contains(err.Error(), id) || len(model.calls) != calls {
		t.Errorf("%d calls, then %d: %v", calls, len(model.calls), err)
	}
	if f := failure.Of(err); f.Message != "The record of this conversation cannot be read." ||
		f.Advice != "Begin another one." {
		t.Errorf("%+v", f)
	}
}

// texts are the items of a list as JSON.
func texts[T any](t *testing.T, list []T) (all []string) {
	t.Helper()
	for _, item := range list {
		text := testutil.Value(json.Marshal(item))(t)
		all = append(all, string(text))
	}
	return all
}
