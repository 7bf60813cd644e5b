package main

import (
	"strings"
	"testing"
)

// TestReadings: without a flag ask tells both readings in words and figures and ends with 3; with -i the person
// chooses.
func TestReadings(t *testing.T) {
	disagree := func(_ string, call int) string {
		return []string{"SELECT count(*) FROM customers", "SELECT count(*) FROM orders"}[call%2]
	}
	env := with(asking(t, disagree), "TEXTTOSQL_DSN", shopFile(t))
	for _, tt := range []struct {
		why, typed string
		flags      []string
		code       int
		out, err   string
	}{
		{"both are told", "", nil, exitUnsure, "Number of customers (2 of 4 samples)\n     40\n",
			"Choose one of the options"},
		{"one is chosen", "7\n2\n", []string{"-i"}, exitAnswer, "SELECT count(*)", "7 is not one of them"},
		{"nobody chooses", "", []string{"-i"}, exitUnsure, "", "Which one is meant?"},
		{"the first is taken", "", []string{"--ask-below", "0"}, exitAnswer, "SELECT count(*)", ""},
	} {
		code, out, told := try(t, env, tt.typed,
			append(append([]string{"ask", "-s", "self-consistency", "-n", "4"}, tt.flags...), "How many?")...)
		if n := strings.Count(out+told, "answers disagree; which"); n > 1 && tt.typed == "" {
			t.Errorf("%s: the status is told %d times", tt.why, n)
		}
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(told, tt.err) {
			t.Errorf("%s: code %d\n%s\n%s", tt.why, code, out, told)
		}
	}
}

// TestHeadline: the model's sentence stands first where the rows have its figures, and costs one call.
func TestHeadline(t *testing.T) {
	for reply, want := range map[string]string{
		"There are 40 customers.": "There are 40 customers.\n\nSELECT", "There are 41 customers.": "40 customers.\n\nSELECT",
	} {
		env := with(asking(t, func(prompt string, _ int) string {
			if strings.Contains(prompt, "what was found") {
				return reply
			}
			return "SELECT count(*) FROM customers"
		}), "TEXTTOSQL_DSN", shopFile(t))
		code, out, told := try(t, env, "", "ask", "-s", "direct", "--headline", "How many customers are there?")
		if code != exitAnswer || !strings.HasPrefix(out, want) || !strings.Contains(out, "2 calls") {
			t.Errorf("code %d\n%s\n%s", code, out, told)
		}
	}
}

// TestBare: without a verb the help is told, in groups, and nothing else.
func TestBare(t *testing.T) {
	code, out, told := try(t, nil, "")
	if code != exitUsage || told != "" || !strings.Contains(out, "\nServe\n  serve ") {
		t.Errorf("code %d, %q\n%s", code, told, out)
	}
}
