package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for line, why := range map[string]string{
		"Debugger attached.": "a log line", ping + ",": "a comma too many", "[" + ping + "]": "a batch", "42": "a number",
		`"x"`: "a text", "null": "null",
		"{}": "an empty object", `{"jsonrpc":"1.0","id":1,"method":"ping"}`: "another version",
		`{"id":1,"method":"ping"}`:                              "no version",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:             "an object for an id",
		`{"jsonrpc":"2.0","id":1,"method":5}`:                   "a number for a method",
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`: "a list of params", "{": "half a message",
		"\xff\xfe": "no UTF-8", "[]": "an empty batch",
		strings.Repeat("x", maxLine+10): "too long",
	} {
		var out bytes.Buffer
		m := &messages{in: bufio.NewReader(strings.NewReader(line + "\n\n" + ping + "\r\n" + ping)), out: &out}
		passed, err := io.ReadAll(m)
		if err != nil || string(passed) != ping+"\n"+ping+"\n" {
			t.Errorf("%s: %.200q, %v", why, passed, err)
		}
		if strings.Count(out.String(), `"id":null`) != 1 {
			t.Errorf("%s: answered with %q", why, out.String())
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n[1]\n")
	f.Fuzz(func(t *testing.T, in string) {
		passed, err := io.ReadAll(&messages{in: bufio.NewReader(strings.NewReader(in)), out: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(passed) {
			if code, why := fault(bytes.TrimSpace(line)); code != 0 {
				t.Fatalf("%q was passed on: %s", line, why)
			}
		}
	})
}
