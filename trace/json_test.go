package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

func TestSpan_JSON_golden(t *testing.T) {
	for _, tt := range []struct {
		file       string
		keep, show trace.Sensitivity
	}{{"shop.json", 0, 0}, {"shop_shown.json", trace.PrivatePrompts | trace.PrivateReplies | trace.PrivateRows,
		trace.PrivateSQL}} {
		b := testutil.Value(shop(tt.keep).JSON(tt.show))(t)
		var out bytes.Buffer
		testutil.OK(t, json.Indent(&out, append(b, '\n'), "", "\t"))
		golden.Check(t, tt.file, out.Bytes())
	}
	comparable := testutil.Value(shop(0).Comparable())(t)
	golden.Check(t, "shop_comparable.json", comparable)
}

// Two runs of other lengths, and with other work given up, compare equal.
func TestSpan_Comparable(t *testing.T) {
	run := func(slow time.Duration, late bool) string {
		c := newClock()
		c.add(slow)
		root := trace.Tracer{Now: c.read}.New("root")
		ctx := trace.NewContext(context.Background(), root)
		c.add(slow)
		_, s := trace.FromContext(ctx).StartAt(ctx, 0, "sample")
		s.Set("waited", slow)
		s.Event("retry", trace.Attr{Key: "after", Value: slow})
		c.add(slow)
		s.AddUsage(trace.Usage{Calls: 1, Known: true})
		s.End()
		if late {
			_, s := trace.FromContext(ctx).StartAt(ctx, 1, "sample")
			s.AddUsage(trace.Usage{Calls: 1, Partial: true})
			s.Cancelled()
		}
		trace.Start(ctx, "vote") // never ended
		b := testutil.Value(root.Comparable())(t)
		return string(b)
	}
	if diff := cmp.Diff(run(time.Millisecond, false), run(time.Hour, true)); diff != "" {
		t.Errorf("(-quick +slow)\n%s", diff)
	}
}

func TestSpan_Set_values(t *testing.T) {
	type pair struct{ B, A any }
	changing := []string{"a", "b"}
	tests := []struct {
		name string
		why  string
		in   any
		want any
		json string
	}{
		{"nil", "null is a value", nil, nil, `null`},
		{"string", "", "<é>\u2028", "<é>\u2028", `"<é>\u2028"`},
		{"bool", "", true, true, `true`},
		{"int", "integers are int64", 7, int64(7), `7`},
		{"int32", "", int32(-7), int64(-7), `-7`},
		{"uint64", "no digit is lost", uint64(math.MaxUint64), json.RawMessage("18446744073709551615"),
			`18446744073709551615`},
		{"float", "", 0.1, 0.1, `0.1`},
		{"NaN", "JSON has no such number", math.NaN(), "NaN", `"NaN"`},
		{"infinite", "", math.Inf(-1), "-Inf", `"-Inf"`},
		{"duration", "a time of our own", 1500 * time.Microsecond, 1500 * time.Microsecond, `{"duration_ns":1500000}`},
		{"strings", "", changing, []string{"a", "b"}, `["a","b"]`},
		{"nil strings", "", []string(nil), []string{}, `[]`},
		{"error", "scrubbed as a failure is", errors.New("key=abc"), "key=***", `"key=***"`},
		{"struct", "keys in order, one spelling", pair{1, "<"}, json.RawMessage(`{"A":"<","B":1}`), `{"A":"<","B":1}`},
		{"map", "", map[string]int{"b": 1, "a": 2}, json.RawMessage(`{"a":2,"b":1}`), `{"a":2,"b":1}`},
		{"numbers", "", []int{1, 2}, json.RawMessage(`[1,2]`), `[1,2]`},
		{"named string", "a type of one's own is what it encodes to", json.Number("5"), int64(5), `5`},
		{"not encodable", "a trace does not fail", func() {}, "trace: a func() does not encode to JSON",
			`"trace: a func() does not encode to JSON"`},
		{"sql", "held, and not shown", trace.PrivateSQL.Secret("SELECT 1"), trace.PrivateSQL.Secret("SELECT 1"),
			`{"private":"sql","bytes":8,"sha256":"e004ebd5b5532a4b"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := trace.Tracer{}.New("s")
			s.Set("k", "before")
			s.Set("k", tt.in)
			changing[0] = "changed"
			defer func() { changing[0] = "a" }()
			got, ok := s.Attr("k")
			if diff := cmp.Diff(tt.want, got); diff != "" || !ok {
				t.Errorf("%s (-want +got)\n%s", tt.why, diff)
			}
			b := testutil.Value(s.JSON(0))(t)
			if want := `"attrs":{"k":` + tt.json + `}`; !strings.Contains(string(b), want) {
				t.Errorf("%s is not in %s", want, b)
			}
			checkRoundTrip(t, s)
		})
	}
}

// checkRoundTrip checks that s is the same bytes when written, read and written
// again, in each form.
func checkRoundTrip(t *testing.T, s *trace.Span) {
	t.Helper()
	withSQL := func(s *trace.Span) ([]byte, error) { return s.JSON(trace.PrivateSQL) }
	for _, write := range []func(*trace.Span) ([]byte, error){(*trace.Span).MarshalJSON, withSQL,
		(*trace.Span).Comparable} {
		first := testutil.Value(write(s))(t)
		var back trace.Span
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second := testutil.Value(write(&back))(t)
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Errorf("(-first +second)\n%s", diff)
		}
		if !bytes.Contains(first, []byte(`"started"`)) { // a document of Comparable
			continue
		}
		if back.Usage() != s.Usage() || !cmp.Equal(back.Warnings(), s.Warnings()) || names(&back) != names(s) {
			t.Errorf("read back: %+v %v\n%s\nwritten: %+v %v\n%s", back.Usage(), back.Warnings(), names(&back), s.Usage(),
				s.Warnings(), names(s))
		}
	}
}

func TestSpan_roundTrip(t *testing.T) {
	checkRoundTrip(t, shop(0))
	checkRoundTrip(t, shop(trace.PrivatePrompts|trace.PrivateReplies|trace.PrivateRows))
	checkRoundTrip(t, hostilePage().root)
}

// A trace inside another document goes through json.Marshal, which escapes for
// HTML and may indent.
func TestSpan_MarshalJSON_inside(t *testing.T) {
	type holder struct{ Trace *trace.Span }
	h := holder{shop(0)}
	h.Trace.Set("markup", "</script>")
	b := testutil.Value(json.MarshalIndent(h, "", " "))(t)
	if bytes.Contains(b, []byte("</script>")) {
		t.Error("json.Marshal did not escape a value")
	}
	var back holder
	testutil.OK(t, json.Unmarshal(b, &back))
	again := testutil.Value(json.MarshalIndent(back, "", " "))(t)
	if diff := cmp.Diff(string(b), string(again)); diff != "" {
		t.Errorf("(-first +second)\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"Trace":null}`), &back); err != nil || back.Trace != nil {
		t.Errorf("null: %v, %v", back.Trace, err)
	}
}

func TestSpan_UnmarshalJSON_errors(t *testing.T) {
	tests := []struct{ why, doc, want string }{
		{"no version", `{}`, "trace: version not supported: 0"},
		{"a later version, of whatever shape", `{"version":2,"root":[]}`, "trace: version not supported: 2"},
		{"another shape", `{"version":1,"root":[]}`, "trace: reading JSON: "},
		{"not an object", `[]`, "trace: reading JSON: "},
		{"attributes of another shape", `{"version":1,"root":{"name":"a","attrs":[1]}}`, "attrs is not an object"},
		{"a time that cannot be written", `{"version":1,"started":"0000-01-01T00:00:00+01:00","root":{"name":"a"}}`,
			"out of range"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var s trace.Span
			s.Set("k", 1)
			err := json.Unmarshal([]byte(tt.doc), &s)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if s.Name() != "" {
				t.Error("a failed read changed the span")
			}
		})
	}
}

func TestSpan_UnmarshalJSON_addsBelow(t *testing.T) {
	var s trace.Span
	testutil.OK(t,
		json.Unmarshal(
			[]byte(`{"version":1,"root":{"name":"old","open":true,"children":[{"name":"a"}],"cancelled":[{"name":"b"}]}}`), &s))
	_, c := trace.Start(trace.NewContext(context.Background(), &s), "c")
	c.End()
	if got := names(&s); got != "old\n a\n c\n" {
		t.Errorf("tree is\n%s", got)
	}
	if s.Duration() != 0 || c.Duration() != 0 {
		t.Errorf("a trace that was read has a clock: %v, %v", s.Duration(), c.Duration())
	}
}

func FuzzSpan_UnmarshalJSON(f *testing.F) {
	// Small seeds: a whole trace as one slows the fuzzer to a few runs a second.
	f.Add([]byte(
		`{"version":1,"total":{"calls":1},"root":{"name":"ask","at_ns":0,"open":true,"failure":"x","warnings":[{"code":"a",` +
			`"message":"b"}],"events":[{"name":"e","at_ns":3,"attrs":{"k":true}}],"usage":{"calls":1,"prompt_tokens":2,"known":true}}}`))
	f.Add([]byte(
		`{"version":1,"root":{"name":"a","attrs":{"s":{"private":"sql","text":"SELECT 1"},"p":{"private":"prompt","bytes":3,` +
			`"sha256":"00"},"t":{"duration_ns":5}}}}`))
	f.Add([]byte(
		`{"version":1,"started":"2026-01-01T00:00:00+02:00","root":{"name":"\ud800","took_ns":-5,"usage":{"calls":1,"money":1e308},` +
			`"attrs":{"a":1,"a":[null,"x"],"b":1.50,"c":-0,"d":1e999,"e":{"private":"rows","text":"x","bytes":3},"f":{"duration_ns":1.5},` +
			`"g":[[{"\u0061":"\u003c"}]]},"children":[{"name":"c","usage":{"money":1e308}}],"cancelled":[{}]}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var first trace.Span
		if json.Unmarshal(doc, &first) != nil {
			return
		}
		a := testutil.Value(first.JSON(0))(t, "what was read cannot be written:")
		var second trace.Span
		if err := json.Unmarshal(a, &second); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, a)
		}
		b := testutil.Value(second.JSON(0))(t)
		if !bytes.Equal(a, b) {
			t.Fatalf("written again it differs\n%s\n%s", a, b)
		}
	})
}

func BenchmarkSpan_JSON(b *testing.B) {
	s := shop(0)
	for b.Loop() {
		if _, err := s.JSON(0); err != nil {
			b.Fatal(err)
		}
	}
}
