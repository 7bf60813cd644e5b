package linker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/llm"
)

// callRules says how many tables a request is about.
type callRules bool

const (
	aboutOne  callRules = false
	aboutMany callRules = true
)

// listed is the reply to a request about several tables: those that are relevant, each by its number with what T says
// of it.
type listed[T reply] struct {
	Tables []json.RawMessage `json:"tables"`
}

// listSchema is the JSON schema of the reply, with the properties of what is said of a table.
func listSchema(properties string) json.RawMessage {
	return json.RawMessage(
		`{"type":"object","properties":{"tables":{"type":"array","items":{"type":"object","properties":{"table":{"type":"integer"},` +
			properties + `},"required":["table"],"additionalProperties":false}}},"required":["tables"],"additionalProperties":false}`)
}

// askTogether makes the call about several tables.
func (j *judge[T]) askTogether(ctx context.Context, list []*judged) error {
	beside := len(list) * len("Table 10:\n")
	for _, m := range j.request(aboutMany, "").Messages {
		beside += 4 * prompttext.EstimateTokens(m.Text)
	}
	var b strings.Builder
	for i, t := range list {
		text, err := j.part(ctx, t, 4*j.limit-(4*j.limit-beside)/len(list))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "Table %d:\n%s", i+1, text)
	}
	heard := map[*judged]said{}
	calls := 0
	once := llm.Wrap(j.model, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if calls++; calls > 1 { // one call for each table follows
			return llm.Response{}, &llm.ReplyError{Purpose: req.Purpose, Problem: "it is not a list of tables"}
		}
		resp, err := j.model.Complete(ctx, req)
		if list := strings.Trim(resp.Text, "`json \n"); strings.HasPrefix(list, "[") && json.Valid([]byte(list)) {
			resp.Text = `{"tables":` + list + `}` // a list alone
		}
		return resp, err
	})
	var one T
	req := j.request(aboutMany, b.String())
	req.Schema = listSchema(one.properties())
	_, err := llm.Ask(ctx, once, req, func(l listed[T]) error {
		clear(heard)
		return l.read(list, heard)
	})
	if err != nil {
		return err
	}
	for _, t := range list {
		t.read(heard[t])
		t.Columns = inOrder(t.of, t.Columns)
	}
	return nil
}

// placeOf returns where a table stands in a list that a reply names, or numbers from 1; -1: nowhere.
func placeOf(list []*judged, name string) int {
	at := slices.IndexFunc(list, func(t *judged) bool { return isTable(t.Table, name) })
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(list) && at < 0 {
		return n - 1
	}
	if rest, ok := strings.CutPrefix(strings.ToLower(name), "table "); ok && at < 0 {
		return placeOf(list, rest)
	}
	return at
}

// read takes what the reply says of each table. One that is not in it is not relevant.
func (l listed[T]) read(list []*judged, heard map[*judged]said) error {
	if l.Tables == nil {
		return errors.New("tables is missing")
	}
	for _, text := range l.Tables {
		var of struct {
			Table any `json:"table"`
		}
		var reply T
		if text[0] != '{' { // a name or number alone
			text = slices.Concat([]byte(`{"table":`), text, []byte(`}`))
		}
		if err := errors.Join(json.Unmarshal(text, &of), json.Unmarshal(text, &reply)); err != nil {
			return err
		}
		name := fmt.Sprint(of.Table)
		at := placeOf(list, name)
		if at < 0 {
			return fmt.Errorf("the list has no table %.80s", name)
		}
		said := reply.said()
		said.score = min(max(said.score, 0), 1)
		heard[list[at]] = said
	}
	return nil
}
