package linker_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestWithoutSchema: a linker that gets no schema says which one it is, and does not panic.
func TestWithoutSchema(t *testing.T) {
	model := &llmtest.Script{}
	for name, l := range map[string]linker.Linker{
		"Lexical": linker.Lexical{}, "Names": linker.Names{}, "Values": linker.Values{},
		"MapReduce": linker.MapReduce{Model: model},
		"PerTable":  linker.PerTable{Model: model}, "PreSQL": linker.PreSQL{Model: model},
	} {
		for _, of := range []linker.Linker{l, linker.Conversation{Linker: l}, linker.Union{nil, l}} {
			if _, err := of.Link(t.Context(), linker.Input{Question: "who?"}); err == nil ||
				!strings.Contains(err.Error(), "linker: "+name+" needs Input.Schema") {
				t.Errorf("%T of %s: %v", of, name, err)
			}
		}
	}
	if _, err := (linker.Joins{}).Connect(t.Context(), linker.Input{}, nil); err == nil ||
		!strings.Contains(err.Error(), "Joins needs") {
		t.Error(err)
	}
}
