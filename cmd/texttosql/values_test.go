package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestValuesOnServers: the command, MCP and the page give values and their types as PostgreSQL and MariaDB have them,
// and a stream has every row.
func TestValuesOnServers(t *testing.T) {
	const money = "SELECT CAST(1.10 AS DECIMAL(10,2)) AS price, CAST(100 AS DECIMAL(12,2)) AS total, "
	for _, test := range []struct {
		engine, driver, admin, dsn string
		sql, types, rows, csv      string
		many                       string
	}{
		{
			"postgres", "pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", pg.Get(t).Port), "",
			money + "true AS paid, DATE '2024-02-29' AS day", "numeric(10,2) numeric(12,2) boolean date",
			`[1.10,100.00,true,"2024-02-29"]`,
			"price,total,paid,day\n1.10,100.00,true,2024-02-29\n", "SELECT i, i * 2 AS n FROM generate_series(1, 100000) i",
		},
		{
			"mysql", "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", my.Get(t).Port),
			fmt.Sprintf("mysql://root@127.0.0.1:%d/shown", my.Get(t).Port),
			money + "TRUE AS paid, DATE '2024-02-29' AS day", "decimal(10,2) decimal(12,2) int date",
			`[1.10,100.00,1,"2024-02-29"]`,
			"price,total,paid,day\n1.10,100.00,1,2024-02-29\n", "SELECT seq AS i, seq * 2 AS n FROM numbers",
		},
	} {
		t.Run(test.engine, func(t *testing.T) {
			pool := testutil.Value(sql.Open(test.driver, test.admin))(t)
			defer pool.Close()
			dsn := test.admin
			if test.dsn != "" {
				dsn = test.dsn
				testutil.Value(pool.Exec("CREATE DATABASE shown"))(t)
				testutil.Value(pool.Exec("CREATE TABLE shown.numbers AS SELECT seq FROM shown.seq_1_to_100000"))(t)
			}
			env := map[string]string{"TEXTTOSQL_DSN": dsn}
			var shown struct {
				Rows struct {
					Types []struct{ Name string }
					Rows  json.RawMessage
				}
			}
			code, out, told := try(t, env, "", "sql", "--json", test.sql)
			testutil.OK(t, json.Unmarshal([]byte(out), &shown))
			var names []string
			for _, of := range shown.Rows.Types {
				names = append(names, strings.ToLower(of.Name))
			}
			if diff := cmp.Diff([]any{test.types, "[" + test.rows + "]", exitAnswer},
				[]any{strings.Join(names, " "), string(shown.Rows.Rows), code}); diff != "" {
				t.Errorf("JSON (-want +got), %s:\n%s", told, diff)
			}
			if _, out, told := try(t, env, "", "sql", "--csv", test.sql); out != test.csv {
				t.Errorf("CSV: %q, %s", out, told)
			}
			code, out, told = try(t, env, "", "sql", "--all", "--csv", test.many)
			if n := strings.Count(out, "\n"); code != exitAnswer || n != 100_001 || told != "" {
				t.Errorf("a stream: code %d, %d lines, %s", code, n, told)
			}
			address, stop := servePage(t, env, "--sessions", t.TempDir())
			defer stop()
			page := func(sql string) string {
				var c struct{ ID string }
				_, text := send(t, address, "/api/query", string(testutil.Value(json.Marshal(map[string]string{"sql": sql}))(t)))
				testutil.OK(t, json.Unmarshal([]byte(text), &c), text)
				return "/api/conversations/" + c.ID
			}
			if _, text := send(t, address, page(test.sql)+"/rows/0?save&form=csv", ""); text != textformat.BOM+test.csv {
				t.Errorf("the page's file: %q", text)
			}
			all := page(test.many)
			if _, text := send(t, address, all, ""); !strings.Contains(text, `"the first 1,000 rows"`) {
				t.Errorf("the page: %.300s", text)
			}
			if _, text := send(t, address, all+"/rows/0?save&form=csv", ""); strings.Count(text, "\n") != 100_001 {
				t.Errorf("the page's file of all rows: %d lines", strings.Count(text, "\n"))
			}
			cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&mcp.CommandTransport{Command: asProgram(newFakeProvider(t), "serve-mcp", "--db", dsn)}, nil))(t)
			defer cs.Close()
			res := testutil.Value(cs.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "query", Arguments: map[string]any{"sql": test.sql}}))(t)
			structured, _ := json.Marshal(res.StructuredContent)
			for _, want := range []string{"1.10", "100.00", `"2024-02-29"`, strings.Fields(test.types)[0]} {
				if !strings.Contains(strings.ToLower(string(structured)), want) {
					t.Errorf("MCP lacks %s: %s", want, structured)
				}
			}
		})
	}
}
