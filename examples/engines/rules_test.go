package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakeTrino answers the statements by which a schema is read: memory.shop has users and t.
func fakeTrino(t *testing.T) (dsn string) {
	t.Helper()
	const column = `{"name":"c","type":"varchar","typeSignature":{"rawType":"varchar","arguments":[]}}`
	answers := []struct{ part, rows string }{
		{"to_hex(checksum(", `["00","2"]`},
		{"ordinal_position, column_name", `["0","shop","t","0","BASE TABLE",null,null,null,null],` +
			`["0","shop","t","1","a","integer",null,"YES",null],["0","shop","users","0","BASE TABLE",null,null,null,null],` +
			`["0","shop","users","1","password","varchar",null,"YES",null]`},
		{"system.metadata.", ``},
		{"SELECT current_user,", `["admin","memory","shop"]`},
		{"", `["1"]`},
	}
	var mu sync.Mutex
	pending := map[string]string{}
	var base string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			id := fmt.Sprintf("q%d", len(pending))
			for _, a := range answers {
				if strings.Contains(string(text), a.part) {
					columns := max(1, strings.Count(strings.SplitN(a.rows, "],[", 2)[0], ",")+1)
					pending[id] = fmt.Sprintf(`{"id":%q,"columns":[%s],"data":[%s],"stats":{"state":"FINISHED"}}`, id,
						column+strings.Repeat(","+column, columns-1), a.rows)
					break
				}
			}
			fmt.Fprintf(w, `{"id":%q,"nextUri":%q,"stats":{"state":"QUEUED"}}`, id, base+"/"+id)
			return
		}
		if r.URL.Path == "/v1/info" {
			io.WriteString(w,
				`{"nodeVersion":{"version":"435"},"environment":"test","coordinator":true,"starting":false,"uptime":"1.00m"}`)
			return
		}
		io.WriteString(w, pending[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	t.Cleanup(s.Close)
	base = s.URL
	return strings.Replace(s.URL, "http://", "http://admin@", 1) + "?catalog=memory&schema=shop"
}

func TestRules(t *testing.T) {
	dsn := fakeTrino(t)
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"DenyColumns": ["users.password"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-db", dsn, "-policy", policy, "-rules", "reader"}, &out, none); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables []struct {
			User, Table string
			Columns     []struct{ Name string }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(file.Tables[:2]); got != "[{reader t []} {reader users [{password}]}]" {
		t.Errorf("the rules are %s", got)
	}
	if err := run(t.Context(), []string{"-db", t.TempDir(), "-rules", "reader"}, &out, none); err == nil {
		t.Error("rules for DuckDB")
	}
}
