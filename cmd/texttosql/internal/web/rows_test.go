package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// TestShapes: numbers have separators and the digits that mean something, times no part that is the same for all.
func TestShapes(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []any
		want []string
		why  string
	}{
		{"revenue", []any{2263737.1180000002, 61084.420000000006}, []string{"2,263,737.12", "61,084.42"},
			"the noise of floats"},
		{"amount", []any{120.0, 80.5}, []string{"120.00", "80.50"}, "as many digits in each row"},
		{"share", []any{0.05234567, 0.5}, []string{"0.0523", "0.5000"}, "small ones"},
		{"rate", []any{3.14159265}, []string{"3.14"}, "a computed one"},
		{"amount", []any{1e6, 0.0004}, []string{"1,000,000.00", "0.0004"}, "a little is not nothing"},
		{"amount", []any{1e20, 1e-9}, []string{"1e+20", "1e-09"}, "without end"},
		{"n", []any{int64(-1234567)}, []string{"−1,234,567"}, "below zero"},
		{"customer_id", []any{int64(1234567)}, []string{"1234567"}, "a key is no quantity"},
		{"year", []any{int64(2025)}, []string{"2025"}, "nor a year"},
		{"price", []any{result.Decimal("123456789012345678901.125")}, []string{"123,456,789,012,345,678,901.13"},
			"beyond floats"},
		{"day", []any{"2026-01-02 00:00:00", "2026-01-03 00:00:00"}, []string{"2026-01-02", "2026-01-03"},
			"midnight of each"},
		{"at", []any{"2026-01-02T10:30:00Z", nil}, []string{"2026-01-02 10:30", ""}, "without seconds"},
		{"at", []any{"2026-01-02 10:30:01", "x"}, []string{"2026-01-02 10:30:01", "x"}, "not all are times"},
	} {
		table := &result.Table{Columns: []string{tt.name}}
		for _, v := range tt.in {
			table.Rows = append(table.Rows, []any{v})
		}
		var got []string
		for _, row := range tabled(table).Rows {
			if row[0] == nil {
				got = append(got, "")
			} else {
				got = append(got, *row[0])
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestRows: the rows of an answer are paged, sorted, searched and given in every form, exact and without formulas.
func TestRows(t *testing.T) {
	s := open(t, nil)
	testutil.Value(s.db.Exec("INSERT INTO clerks VALUES (3, '=1+1', 'Bonn|Köln'), (4, NULL, NULL)"))(t)
	id := s.asked(t, "", "Who are the clerks?").ID
	path := "/api/conversations/" + id + "/rows/0?"
	first := func(query string) []string {
		var got []string
		_, page := s.do(t, path+query, nil, nil)
		rows, _ := page["rows"].([]any)
		for _, row := range rows {
			got = append(got, fmt.Sprint(row.([]any)[0]))
		}
		return got
	}
	img := `<img src=x onerror="window.ran=1">`
	for query, want := range map[string][]string{
		"":             {img, "Grete", "=1+1", "<nil>"},
		"sort=1":       {img, "=1+1", "Grete", "<nil>"},
		"sort=1&down":  {"Grete", "=1+1", img, "<nil>"},
		"sort=99":      {img, "Grete", "=1+1", "<nil>"},
		"find=GRET":    {"Grete"},
		"find=nowhere": nil,
		"from=2":       {"=1+1", "<nil>"},
		"from=-7":      {img, "Grete", "=1+1", "<nil>"},
		"from=99":      nil,
	} {
		if diff := cmp.Diff(want, first(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for query, want := range map[string]string{
		"form=csv&find=bonn":  "name,town\r\n'=1+1,Bonn|Köln\r\n",
		"form=tsv&find=grete": "name\ttown\nGrete\t\n",
		"form=md&find=bonn":   "| name | town |\n| --- | --- |\n| =1+1 | Bonn\\|Köln |\n",
		"form=json&find=bonn": `{"columns":["name","town"],"types":[{"name":"TEXT","kind":"text"},{"name":"TEXT","kind":"text"}],` +
			`"rows":[["=1+1","Bonn|Köln"]]}` + "\n",
	} {
		status, got := s.do(t, path+query, nil, nil)
		if text := got["text"].(string); status != 200 || strings.ReplaceAll(text, "\r\n", "\n") != strings.ReplaceAll(want,
			"\r\n", "\n") {
			t.Errorf("%s: %d %q, want %q", query, status, text, want)
		}
	}
	for query, want := range map[string]int{"form=xls": 400, "sort=1": 200} {
		if status, _ := s.do(t, path+query, nil, nil); status != want {
			t.Errorf("%s: %d", query, status)
		}
	}
}

// TestNumbers: a number of a path that is too large is absent as any other one, and a text that is not a number, too.
func TestNumbers(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "Who are the clerks?").ID
	for _, path := range []string{"/api/conversations/" + id + "/rows/", "/trace/" + id + "/"} {
		_, absent := s.do(t, path+"7", nil, nil)
		for _, number := range []string{
			"7", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1e3",
			"0x0", "seven",
		} {
			status, got := s.do(t, path+number, nil, nil)
			if status != 404 || got["code"] != absent["code"] {
				t.Errorf("%s%s: %d %v, want as for 7: %v", path, number, status, got, absent)
			}
		}
		if status, _ := s.do(t, path+"0", nil, nil); status != 200 {
			t.Errorf("%s0: %d", path, status)
		}
	}
	if status, _ := s.do(t, "/api/conversations/"+id+"/rows/0?from=seven", nil, nil); status != 404 {
		t.Error(status)
	}
}

// TestTwoObjects: a request is one object. The second of two is not dropped.
func TestTwoObjects(t *testing.T) {
	s := open(t, nil)
	const one = `{"sql":"SELECT 1"}`
	for body, want := range map[string]int{
		one: 200, " " + one + "\n": 200,
		one + one: 400, one + "\n" + `{"sql":"SELECT 2"}`: 400, one + "}": 400, one + " null": 400, "[" + one + "]": 400,
		"": 400,
	} {
		status, got := s.do(t, "/api/query", body, func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		})
		if status != want || want == 400 && got["code"] != "request" {
			t.Errorf("%q: %d %v", body, status, got)
		}
	}
}

// TestOwn: a statement of the person runs under the guard and without a model, after an answer, after none and without
// any question; it is kept, with its rows read again by the next program, and can be confirmed.
func TestOwn(t *testing.T) {
	s := open(t, nil)
	c := s.asked(t, "", "How many in the north?")
	path := "/api/conversations/" + c.ID
	for sql, code := range map[string]string{"DELETE FROM sales": "refused", "SELECT colour FROM sales": "invalid",
		"": "refused"} {
		for _, to := range []string{path + "/query", "/api/query"} {
			if status, refused := s.do(t, to, map[string]any{"sql": sql}, nil); status < 400 || refused["code"] != code {
				t.Errorf("%q: %d %v", sql, status, refused)
			}
		}
	}
	for _, turn := range []int{-1, 0, 1} { // an answer is no statement of the person
		if status, refused := s.do(t, path+"/keep", map[string]any{"turn": turn}, nil); status != 404 {
			t.Error(status, refused)
		}
	}
	const sql = "SELECT count(*) FROM sales WHERE region = 'North' AND amount > 150"
	wrote := func(id, sql string) conversation {
		t.Helper()
		before := s.model.called()
		to := "/api/query"
		if id != "" {
			to = "/api/conversations/" + id + "/query"
		}
		status, kept := s.do(t, to, map[string]any{"sql": sql}, nil)
		if status != 200 || s.model.called() != before {
			t.Fatal(status, kept)
		}
		return s.view(t, kept["id"].(string))
	}
	wrote(c.ID, "SELECT 1 AS replaced FROM sales")
	if c = wrote(c.ID, sql); len(c.Turns) != 2 || c.Turns[1].Text != sql || c.Turns[1].Own.Says == "" ||
		*c.Turns[1].Own.Rows.Rows[0][0] != "1" || c.State != answered {
		t.Errorf("%+v", c)
	}
	if status, refused := s.do(t, path+"/keep", map[string]any{"turn": 1}, nil); status != 200 {
		t.Error(status, refused)
	}
	if pairs, err := s.confirmed.Pairs(); err != nil || len(pairs) != 1 || pairs[0].SQL != sql ||
		pairs[0].Question != "How many in the north?" {
		t.Errorf("%+v %v", pairs, err)
	}
	s.say(t, c.ID, "confirm", map[string]any{}) // the answer above it takes the place of the statement
	s.asked(t, c.ID, "And in the south?")
	if c = wrote(c.ID, sql); len(c.Turns) != 4 || !c.Turns[0].Confirmed || c.Turns[1].Confirmed || c.Turns[3].Confirmed {
		t.Errorf("%+v", c.Turns)
	}
	place := c.Turns[3].Place
	if status, refused := s.do(t, path+"/keep", map[string]any{"turn": place}, nil); status != 422 ||
		refused["code"] != "input" {
		t.Error(status, refused) // a follow-up means nothing alone
	}

	none := wrote(s.asked(t, "", "What is the weather?").ID, sql)
	if none.State != failed || len(none.Turns) != 2 || none.Turns[0].Failure == nil || none.Turns[1].Own.Rows == nil {
		t.Errorf("%+v", none)
	}
	none = s.say(t, none.ID, "edit", map[string]any{"question": "How many in the north?"})
	if none.State != answered || len(none.Turns) != 2 || none.Turns[1].Own == nil {
		t.Errorf("%+v", none)
	}
	release := s.model.hold()
	_, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
	id := r["id"].(string)
	if status, refused := s.do(t, "/api/conversations/"+id+"/query", map[string]any{"sql": sql}, nil); status != 409 ||
		refused["code"] != "busy" {
		t.Error(status, refused)
	}
	s.do(t, "/api/conversations/"+id+"/cancel", map[string]any{}, nil)
	s.settled(t, id)
	release()
	if cancelled := wrote(id, sql); cancelled.State != stopped || cancelled.Turns[1].Own.Rows == nil {
		t.Errorf("%+v", cancelled)
	}
	if cancelled := s.say(t, id, "resume", map[string]any{}); cancelled.State != answered ||
		cancelled.Turns[0].Answer == nil || cancelled.Turns[1].Own == nil {
		t.Errorf("%+v", cancelled)
	}

	alone := wrote("", sql)
	if alone.State != answered || alone.Title != sql || len(alone.Turns) != 1 {
		t.Errorf("%+v", alone)
	}
	if status, refused := s.do(t, "/api/conversations/"+alone.ID+"/keep", map[string]any{"turn": 0}, nil); status != 422 {
		t.Error(status, refused)
	}
	said := map[string]any{"turn": 0, "text": "How many large ones in the north?"}
	if status, refused := s.do(t, "/api/conversations/"+alone.ID+"/keep", said, nil); status != 200 {
		t.Error(status, refused)
	}
	odd := wrote("", "-- of one row\nSELECT 7 AS seven;")
	s.do(t, "/api/conversations/"+odd.ID+"/keep", map[string]any{"turn": 0, "text": "Which number?"}, nil)
	if v := s.view(t, odd.ID); !v.Turns[0].Confirmed {
		t.Errorf("a comment and a semicolon: %+v", v.Turns[0])
	}
	then := s.asked(t, alone.ID, "How many in the north?")
	if then.Title != "How many in the north?" || then.Turns[1].Kind != dialogue.TurnQuestion || then.State != answered {
		t.Errorf("%+v", then)
	}

	s.killed(t)
	s.start(t, nil)
	calls := s.model.called()
	for id, places := range map[string][]int{c.ID: {0, 1, 2, place}, none.ID: {0, 1}, id: {0, 1}, alone.ID: {0, 1}} {
		if v := s.view(t, id); len(v.Turns) != len(places) || v.Turns[0].Own != nil && v.Turns[0].Own.Rows != nil {
			t.Errorf("%+v", v)
		}
		for i, place := range places {
			v := s.view(t, id)
			at := v.Turns[i].Place
			if status, page := s.do(t, fmt.Sprintf("/api/conversations/%s/rows/%d", id, at), nil, nil); status != 200 ||
				len(page["rows"].([]any)) != 1 {
				t.Errorf("place %d: %d %v", place, status, page)
			}
			if v = s.view(t, id); v.Turns[i].Own != nil && *v.Turns[i].Own.Rows.Rows[0][0] != "1" || v.Turns[i].Answer != nil &&
				v.Turns[i].Answer.Rows == nil {
				t.Errorf("%+v", v.Turns[i])
			}
		}
	}
	if s.model.called() != calls {
		t.Error("a model was asked")
	}
}

// TestEdit: a question that was stopped gets other words, one that is answered does not.
func TestEdit(t *testing.T) {
	s := open(t, nil)
	release := s.model.hold()
	_, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the nroth?"}, nil)
	id := r["id"].(string)
	path := "/api/conversations/" + id
	if status, refused := s.do(t, path+"/edit", map[string]any{"question": "How many in the north?"},
		nil); status != 409 || refused["code"] != "busy" {
		t.Error(status, refused)
	}
	s.do(t, path+"/cancel", map[string]any{}, nil)
	if c := s.settled(t, id); c.State != stopped || c.Turns[0].Failure.Error != "The question was cancelled." {
		t.Errorf("%+v", c)
	}
	release()
	for question, code := range map[string]string{" ": "input", strings.Repeat("x", maxQuestion+1): "input"} {
		if status, refused := s.do(t, path+"/edit", map[string]any{"question": question}, nil); status != 422 ||
			refused["code"] != code {
			t.Error(status, refused)
		}
	}
	c := s.say(t, id, "edit", map[string]any{"question": "How many in the north?"})
	if c.State != answered || len(c.Turns) != 1 || c.Title != "How many in the north?" ||
		*c.Turns[0].Answer.Rows.Rows[0][0] != "2" {
		t.Errorf("%+v", c)
	}
	if status, refused := s.do(t, path+"/edit", map[string]any{"question": "And in the south?"}, nil); status != 409 ||
		refused["code"] != "conflict" {
		t.Error(status, refused)
	}
}

// TestSweep: old conversations go where the flag says so, and stay where not.
func TestSweep(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		s := open(t, nil)
		c := s.asked(t, "", "How many in the north?")
		s.end()
		rec, err := s.store.Load(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		rec.Updated = time.Now().Add(-40 * 24 * time.Hour)
		testutil.OK(t, s.store.Save(t.Context(), rec))
		s.start(t, func(c *Config) { c.Sweep = sweep })
		gone := false
		for range 1000 {
			if _, err = s.store.Load(t.Context(), c.ID); err != nil || !sweep {
				gone = err != nil
				break
			}
			time.Sleep(time.Millisecond)
		}
		if gone != sweep {
			t.Errorf("sweep %v: gone %v", sweep, gone)
		}
	}
}

// TestSuggested: questions are made of names and keys alone; a schema without any has none.
func TestSuggested(t *testing.T) {
	text := func(names ...string) (all []schema.Column) {
		for _, n := range names {
			all = append(all, schema.Column{Name: n, Type: "TEXT"})
		}
		return all
	}
	s := &schema.Schema{Tables: []schema.Table{
		{Name: "audit_log", Columns: text("id")},
		{Name: "customers", Columns: text("id", "name", "country")},
		{Name: "orders", Columns: append(text("id", "ordered_on"), schema.Column{Name: "total", Type: "REAL"}),
			ForeignKeys: []schema.ForeignKey{{Columns: []string{"customer_id"}, RefTable: "customers",
				RefColumns: []string{"id"}}}},
	}}
	want := []string{"Which 10 customers have the most orders?", "What is the total of orders by month?",
		"How many customers are there for each country?", "How many customers are there?", "How many orders are there?"}
	if diff := cmp.Diff(want, suggested(s)); diff != "" {
		t.Error(diff)
	}
	if got := suggested(&schema.Schema{}); len(got) != 0 {
		t.Error(got)
	}
}

// TestUnreadable: a record that cannot be read is listed, can be deleted, and hides no other one.
func TestUnreadable(t *testing.T) {
	s := open(t, nil)
	s.asked(t, "", "How many in the north?")
	id := strings.Repeat("b", 32)
	testutil.OK(t, os.WriteFile(filepath.Join(s.dir, "sessions", id+".json"), []byte("{"), 0o600))
	_, all := s.do(t, "/api/conversations", nil, nil)
	if list := all["conversations"].([]any); len(list) != 2 || list[0].(map[string]any)["state"] != "broken" {
		t.Error(all)
	}
	if status, _ := s.do(t, "/api/conversations/"+id, struct{}{}, func(r *http.Request) {
		r.Method = http.MethodDelete
	}); status != 200 {
		t.Error(status)
	}
	if all, err := s.store.List(t.Context(), session.Filter{}); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

// TestSize: the page without its libraries is below 60 kB where it is compressed.
func TestSize(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for _, part := range [][]byte{part("page.html"), part("page.css"), script()} {
		w.Write(part)
	}
	w.Close()
	t.Logf("%d bytes, with the libraries %d", packed.Len(), len(assembled(strings.NewReplacer()).packed))
	if packed.Len() > 60_000 {
		t.Errorf("%d bytes", packed.Len())
	}
}

// TestSavedFile: a file is named by question and day. It has all rows, read as a stream; CSV begins with a byte order
// mark. What is ordered or searched has the first rows alone, and says so in its name.
func TestSavedFile(t *testing.T) {
	s := open(t, nil)
	testutil.Value(s.db.Exec(`WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2509)
		INSERT INTO clerks SELECT i, CASE i WHEN 2000 THEN '=1+1' ELSE 'clerk ' || i END, 'Żółć' FROM n`))(t)
	id := s.asked(t, "", "Who are the clerks?").ID
	day := time.Now().Format(time.DateOnly)
	for query, want := range map[string]struct {
		name  string
		lines int
	}{
		"form=csv":              {"who-are-the-clerks-" + day + ".csv", 2503},
		"form=csv&sort=1":       {"who-are-the-clerks-" + day + "-first-1000.csv", 1001},
		"form=csv&find=clerk 1": {"who-are-the-clerks-" + day + "-first-1000.csv", 0},
		"form=json":             {"who-are-the-clerks-" + day + ".json", 0},
		"form=json&down&sort=1": {"who-are-the-clerks-" + day + "-first-1000.json", 1},
	} {
		resp := testutil.Value(http.Get(s.URL + "/api/conversations/" + id + "/rows/0?save&" + strings.ReplaceAll(query, " ",
			"%20")))(t)
		raw := string(testutil.Value(io.ReadAll(resp.Body))(t))
		resp.Body.Close()
		_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
		if err != nil || params["filename"] != want.name {
			t.Errorf("%s: the file is %q, %v, want %q", query, params["filename"], err, want.name)
		}
		if n := strings.Count(raw, "\n"); want.lines > 0 && n != want.lines {
			t.Errorf("%s: %d lines, want %d", query, n, want.lines)
		}
		if csv := strings.HasPrefix(query, "form=csv"); csv != strings.HasPrefix(raw, "\ufeffname,town\n") {
			t.Errorf("%s: the file begins with %.40q", query, raw)
		}
		var whole struct{ Rows [][]any }
		if err := json.Unmarshal([]byte(raw), &whole); query == "form=json" && (err != nil || len(whole.Rows) != 2502 ||
			whole.Rows[2501][0] != "clerk 2509") {
			t.Errorf("%s: %d rows, %v", query, len(whole.Rows), err)
		}
		if query == "form=csv" && (!strings.Contains(raw, "\n'=1+1,Żółć\n") || !strings.HasSuffix(raw, "clerk 2509,Żółć\n")) {
			t.Errorf("%s: a formula, or no end: %.90q", query, raw[len(raw)-90:])
		}
	}
	for question, want := range map[string]string{
		"Wo ist Żółć? \"../x\"": "wo-ist-żółć-x", "?": "rows",
		strings.Repeat("ab ", 40): strings.Trim(strings.Repeat("ab-", 20), "-"),
	} {
		if got := fileName(session.Record{Turns: []session.Turn{{Kind: dialogue.TurnQuestion, Text: question}}},
			0); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// deadlines is a reply that notes until when a client may take to read each part.
type deadlines struct {
	*httptest.ResponseRecorder
	latest time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error { d.latest = at; return nil }

// TestDownloadsEnd: a client that stops reading a file holds its place at work for half a minute.
func TestDownloadsEnd(t *testing.T) {
	s := open(t, func(c *Config) { c.Door.Hosts = []string{"shop.example", "127.0.0.1"} })
	testutil.Value(s.db.Exec(`WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
		INSERT INTO clerks SELECT i, 'clerk ' || i, 'x' FROM n`))(t)
	id := s.asked(t, "", "Who are the clerks?").ID
	p := memory.Exemplar{Question: "Who?", SQL: "SELECT name FROM clerks"}
	testutil.OK(t, s.confirmed.Add(p))
	rows := "/api/conversations/" + id + "/rows/0?save&form="
	for _, tt := range []struct{ why, path string }{
		{"rows as CSV", rows + "csv"}, {"rows as JSON", rows + "json"}, {"rows as a workbook", rows + "xlsx"},
		{"a saved answer as CSV", "/saved/" + savedID(p) + ".csv"},
		{"a saved answer as JSON", "/saved/" + savedID(p) + ".json"},
	} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.example"+tt.path, nil)
		s.server.Handler().ServeHTTP(w, r)
		if left := time.Until(w.latest); w.Code != 200 || left <= maxPart/2 || left > maxPart {
			t.Errorf("%s: %d, and %v to read", tt.why, w.Code, left)
		}
	}
}

// stuck is a reply whose client reads nothing until read is closed.
type stuck struct {
	*httptest.ResponseRecorder
	began chan bool
	read  chan struct{}
}

func (s *stuck) Write(text []byte) (int, error) {
	s.began <- true
	<-s.read
	return s.ResponseRecorder.Write(text)
}

// TestFilesAtOnce: files that clients read slowly take no more places than all pages have for them, and none of those
// of questions, so questions go on.
func TestFilesAtOnce(t *testing.T) {
	files := make(chan struct{}, 1)
	shared := func(c *Config) {
		c.Door.Hosts, c.Files, c.Parallel = []string{"shop.example", "127.0.0.1"}, files, 1
	}
	s, other := open(t, shared), open(t, shared)
	who := memory.Exemplar{Question: "Who?", SQL: "SELECT name FROM clerks"}
	gone := memory.Exemplar{Question: "Gone?", SQL: "SELECT nope FROM clerks"}
	for _, of := range []*shop{s, other} {
		testutil.OK(t, of.confirmed.Add(who))
		testutil.OK(t, of.confirmed.Add(gone))
	}
	at := func(p memory.Exemplar) string { return "/saved/" + savedID(p) + ".csv" }
	slow := &stuck{httptest.NewRecorder(), make(chan bool, 100), make(chan struct{})}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		s.server.Handler().ServeHTTP(slow, httptest.NewRequestWithContext(t.Context(), "GET", "http://shop.example"+at(who),
			nil))
	}()
	<-slow.began
	late := time.AfterFunc(10*time.Second, func() { close(slow.read) })
	for _, tt := range []struct {
		why    string
		on     *shop
		path   string
		body   any
		status int
		says   string
		slow   bool // a client still reads
	}{
		{"another file", s, at(who), nil, 503, "files are sent", true},
		{"a file of another page", other, at(who), nil, 503, "files are sent", true},
		{"a statement", s, "/api/query", map[string]any{"sql": "SELECT 1"}, 200, `"id"`, true},
		{"a statement of another page", other, "/api/query", map[string]any{"sql": "SELECT 1"}, 200, `"id"`, true},
		{"a file that fails once the other one is read", s, at(gone), nil, 422, "nope", false},
		{"a file after one that failed", other, at(who), nil, 200, "Grete", false},
		{"a file after one that was read", s, at(who), nil, 200, "Grete", false},
	} {
		if !tt.slow && late != nil {
			if late.Stop() {
				close(slow.read)
			} else {
				t.Error("what was asked beside a file has waited for it")
			}
			<-ended
			late = nil
		}
		if status, reply := tt.on.do(t, tt.path, tt.body, nil); status != tt.status ||
			!strings.Contains(reply["text"].(string), tt.says) {
			t.Errorf("%s: %d %.200v", tt.why, status, reply["text"])
		}
	}
}
