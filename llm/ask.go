package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/words"
)

// ReplyError reports that two replies of a model did not match a structured request.
type ReplyError struct {
	Purpose string // the purpose of the request
	Problem string // the problem with the last reply, in a few words for a person: "the reply holds no JSON object"
}

// Error returns "llm: PURPOSE: PROBLEM", the problem in one line and without credentials.
func (e *ReplyError) Error() string { return "llm: " + e.Purpose + ": " + redact.Line(e.Problem) }

// Ask sends a request for a JSON object and decodes it into a T with package json. Fences and prose around the object
// and commas before closing brackets are ignored. If there are several objects, Ask reads the first that fits. A T with
// several shapes implements json.Unmarshaler. check, if not nil, returns what is wrong with a decoded object.
//
// The request has the JSON schema of T ([Request.Schema]), unless it has one already, for clients that enforce a
// schema. The schema of a struct has all of its fields, required. The tag schema:"-" leaves a field out,
// schema:"number" sets the type of a field that accepts any, and a method JSONSchema() string returns a type's own
// schema. A T of another kind has no schema.
//
// If no object fits, Ask sends the problem to the model in a second call, which is counted and traced like any other.
// If that reply does not fit either, the error is a [*ReplyError]. Otherwise it is the error of the call. Ask skips
// reasoning up to a </think> and reads at most one megabyte of the rest. It is safe for concurrent use if m and check
// are.
func Ask[T any](ctx context.Context, m Model, req Request, check func(T) error) (T, error) {
	var none T
	if req.Schema == nil {
		req.Schema = shapeOf[T]()
	}
	resp, err := m.Complete(ctx, req)
	if err != nil {
		return none, err
	}
	value, problem := readObject(resp, check)
	if problem == "" {
		return value, nil
	}
	req.Messages = append(slices.Clip(req.Messages),
		Message{Role: Assistant,
			Text: cmp.Or(strings.TrimSpace(words.Inert(words.Clean(words.Short(resp.Text, mostRepeated)))), "(nothing)")},
		Message{Role: User, Text: fmt.Sprintf("That cannot be used: %s. Reply with the JSON object alone.",
			redact.Line(problem))})
	if resp, err = m.Complete(ctx, req); err != nil {
		return none, err
	}
	if value, problem = readObject(resp, check); problem == "" {
		return value, nil
	}
	return none, &ReplyError{Purpose: req.Purpose, Problem: problem}
}

// How much of a reply that cannot be used goes back to the model, and of what is wrong with it, in characters.
const (
	mostRepeated = 2000
	mostProblem  = 300
)

// readObject returns the first object of a reply that fits, or else what is wrong with the last.
func readObject[T any](resp Response, check func(T) error) (value T, problem string) {
	text, cut := words.AfterReasoning(resp.Text)
	var objects []string
	if !cut {
		objects, cut = words.Objects(text)
	}
	problem = "the reply holds no JSON object"
	if cut || resp.StopReason == StopLength {
		problem = "the reply was cut before its JSON object was complete"
	}
	for _, object := range objects {
		var read T
		err := json.Unmarshal([]byte(object), &read)
		if err == nil && check != nil {
			err = check(read)
		}
		if err == nil {
			return read, ""
		}
		problem = words.Short(words.Inert(words.Line(misfit(err))), mostProblem)
	}
	return value, problem
}

// misfit describes the fault of an object, in words that a model and a person understand.
func misfit(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	is, want := wrong.Value, wrong.Type.Kind().String()
	switch {
	case strings.HasPrefix(want, "float"):
		want = "number"
	case strings.HasPrefix(want, "int"), strings.HasPrefix(want, "uint"):
		want = "whole number"
	case want == "slice":
		want = "list"
	case want == "struct", want == "map":
		want = "JSON object"
	}
	switch is {
	case "array":
		is = "list"
	case "object":
		is = "JSON object"
	}
	return fmt.Sprintf("%s is a %s where a %s was asked for", cmp.Or(wrong.Field, "the value"), is, want)
}
