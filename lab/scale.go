package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
)

// scale is the verb scale.
type scale struct {
	Tables   []int         `default:"100,1000,10000" help:"Sizes of the schemas, in tables of 20 columns."`
	Strategy []string      `default:"all" help:"Strategies by name; all: every one that is no published form of another."`
	Warm     int           `default:"10" help:"Warm questions."`
	Timeout  time.Duration `default:"60s" help:"The deadline of a question."`
	Dir      string        `default:"${temp}" placeholder:"DIR" help:"Where the databases are made, once."`
	Database string        `hidden:""`
	Memory   bool          `help:"Measure the schema and its index alone, without a question."`
	Profile  string        `placeholder:"FILE" help:"Write a CPU profile of the warm questions, of the first one in FILE.first, and of memory in FILE.heap."`
	JSON     bool          `name:"json" help:"JSON lines instead of a table."`
	Child    bool          `hidden:""`
}

// Help is the part of --help that explains words and keys.
func (scale) Help() string {
	return `Makes SQLite databases of many tables, no two of one shape, and asks each strategy about them in a process of its
own, with a model that answers at once. Strategies:
` + presetsHelp() + `
JSON, a line for each size and strategy:
  tables, strategy   how many
  catalog_ms   CPU of the bare query of the catalog and its scan, in another process
  first_ms     CPU of the first question, inspection included;     first_ratio  of catalog_ms
  warm_ms      CPU of a later question, mean
  first_wall_ms, warm_wall_ms  the same by the clock
  schema_ms    CPU of asking whether the schema changed
  calls        calls of the model for a warm question;             prompt_kb    the longest prompt
  peak_mb      most memory of the process;                         before_mb, after_mb  before and after the engine
  error        what a question ended with`
}

// scaled is one line.
type scaled struct {
	Tables    string  `json:"tables"`
	Strategy  string  `json:"strategy"`
	Catalog   float64 `json:"catalog_ms"`
	First     float64 `json:"first_ms"`
	Ratio     float64 `json:"first_ratio"`
	Warm      float64 `json:"warm_ms"`
	FirstWall float64 `json:"first_wall_ms"`
	WarmWall  float64 `json:"warm_wall_ms"`
	Schema    float64 `json:"schema_ms"`
	Calls     int     `json:"calls"`
	Prompt    int     `json:"prompt_kb"`
	Before    float64 `json:"before_mb"`
	Peak      float64 `json:"peak_mb"`
	After     float64 `json:"after_mb"`
	Error     string  `json:"error,omitempty"`
}

func (l scaled) row() []string {
	f := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	return []string{l.Tables, l.Strategy, f(l.Catalog), f(l.First), f(l.Ratio), f(l.Warm), f(l.FirstWall), f(l.WarmWall),
		f(l.Schema),
		strconv.Itoa(l.Calls), strconv.Itoa(l.Prompt), f(l.Before), f(l.Peak), f(l.After), l.Error}
}

// bare names the child that reads the catalog alone, and only one that asks nothing.
const bare, only = "(catalog)", "(schema)"

// Run measures.
func (s *scale) Run(p *program) error {
	if s.Child {
		l, err := s.child(p.ctx, s.Database, s.Strategy[0])
		if err != nil {
			return err
		}
		return jsonLines(p.out, []scaled{l})
	}
	names := s.Strategy
	if s.Memory {
		names = []string{only}
	} else if len(names) == 1 && names[0] == "all" {
		names = nil
		for _, preset := range presets() {
			if !strings.Contains(preset.Name, "-compat") && !strings.Contains(preset.Name, "-document") &&
				preset.Name != "consensus-ahead3" {
				names = append(names, preset.Name)
			}
		}
	}
	var databases []string
	for _, tables := range s.Tables {
		databases = append(databases, strconv.Itoa(tables))
		if err := makeWide(p.ctx, s.path(strconv.Itoa(tables)), tables); err != nil {
			return err
		}
	}
	var rows [][]string
	for _, database := range databases {
		catalog, err := s.start(p, database, bare)
		if err != nil {
			return err
		}
		for _, name := range names {
			l, err := s.start(p, database, name)
			if err != nil {
				return err
			}
			l.Catalog, l.Ratio = catalog.First, l.First/catalog.First
			if rows = append(rows, l.row()); s.JSON {
				if err := jsonLines(p.out, []scaled{l}); err != nil {
					return err
				}
			}
		}
	}
	if s.JSON {
		return nil
	}
	return table(p.out, []string{"tables", "strategy", "catalog ms", "first ms", "ratio", "warm ms", "first wall",
		"warm wall", "schema ms", "calls", "prompt kB", "before MB", "peak MB", "after MB", "error"}, rows)
}

func (s *scale) path(database string) string {
	return filepath.Join(s.Dir, "texttosql-scale-"+database+".sqlite")
}

// start measures in a process of its own, so that memory is that of one strategy.
func (s *scale) start(p *program, database, name string) (l scaled, err error) {
	self, err := os.Executable()
	if err != nil {
		return l, err
	}
	args := []string{"scale", "--child", "--database", database, "--strategy", name, "--warm", strconv.Itoa(s.Warm),
		"--timeout", s.Timeout.String(), "--dir", s.Dir}
	if s.Profile != "" && name != bare {
		args = append(args, "--profile", s.Profile)
	}
	cmd := exec.CommandContext(p.ctx, self, args...)
	cmd.Stderr = p.err
	out, err := cmd.Output()
	if err != nil {
		return l, fmt.Errorf("%s tables, %s: %w", database, name, err)
	}
	return l, json.Unmarshal(out, &l)
}

const wideTable = "billing_invoice_fact"

// wideQuestion is a question about a database of many tables, and the table that the model reads.
type wideQuestion struct{ Question, Table string }

// wideQuestions are asked in turn.
var wideQuestions = []wideQuestion{
	{"How many open invoices of the billing area are there in 2024?", wideTable},
	{"Which customer of sales had the highest total amount?", wideTable},
	{"List the status of shipments to Norway.", wideTable},
	{"What is the average price of products in the retail catalog?", wideTable},
	{"Show the names of employees who left the payroll last year.", wideTable},
}

func (s *scale) child(ctx context.Context, database, name string) (l scaled, err error) {
	l.Tables, l.Strategy = database, name
	debug.SetGCPercent(100) // as in a program of a user
	db, err := sql.Open("sqlite3", "file:"+s.path(database)+"?mode=ro")
	if err != nil {
		return l, err
	}
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return l, err
	}
	if name == bare {
		l.First, l.FirstWall, err = timed(1, func(int) error { return scanCatalog(ctx, db) })
		return l, err
	}
	questions := wideQuestions
	var calls, longest atomic.Int64
	about := questions[0]
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		calls.Add(1)
		n := 0
		for _, m := range r.Messages {
			n += len(m.Text)
		}
		for old := longest.Load(); int64(n) > old && !longest.CompareAndSwap(old, int64(n)); old = longest.Load() {
		}
		return llm.Response{Text: atOnce(r, about.Table), StopReason: llm.StopEnd}, nil
	})
	var engine *texttosql.Engine
	var index *linker.Index
	ask := func(i int) error {
		ctx, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		if name == only {
			s, err := engine.Schema(ctx)
			if err == nil && index == nil {
				index = linker.Lexical{}.Index(s)
			}
			return err
		}
		about = questions[i%len(questions)] // no call of the question before is on its way any more
		_, err := engine.Ask(ctx, about.Question)
		return err
	}
	preset := presets()[0]
	if name != only {
		if preset, err = strategyNamed(name); err != nil {
			return l, err
		}
	}
	debug.FreeOSMemory()
	l.Before = status("VmRSS:")
	if engine, err = texttosql.New(db, model, texttosql.WithStrategy(preset.Strategy),
		texttosql.WithClock(nil)); err != nil {
		return l, err
	}
	err = s.profiled(".first", func() (err error) {
		l.First, l.FirstWall, err = timed(1, ask)
		return err
	})
	if err == nil {
		_, _, err = timed(len(questions), ask) // what questions need for the first time
	}
	if err == nil {
		err = s.profiled("", func() (err error) {
			calls.Store(0)
			l.Warm, l.WarmWall, err = timed(s.Warm, ask)
			return err
		})
		l.Calls = int(calls.Load()) / s.Warm
	}
	if err == nil {
		l.Schema, _, err = timed(20, func(int) error { _, err := engine.Schema(ctx); return err })
	}
	if err != nil {
		l.Error, _, _ = strings.Cut(err.Error(), "\n")
		l.Calls = max(l.Calls, int(calls.Load()))
	}
	l.Prompt, l.Peak = int(longest.Load()>>10), status("VmHWM:")
	runtime.KeepAlive(engine)
	runtime.KeepAlive(index)
	engine, index = nil, nil
	if err := db.Close(); err != nil {
		return l, err
	}
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	l.After = status("VmRSS:")
	return l, nil
}

// profiled runs f under the profiles asked for.
func (s *scale) profiled(suffix string, f func() error) error {
	if s.Profile == "" {
		return f()
	}
	out, err := os.Create(s.Profile + suffix)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	err = f()
	pprof.StopCPUProfile()
	runtime.GC()
	heap, herr := os.Create(s.Profile + ".heap")
	if herr != nil {
		return errors.Join(err, herr)
	}
	return errors.Join(err, pprof.WriteHeapProfile(heap), heap.Close())
}

// timed returns the CPU and the time of a call of f, in ms.
func timed(n int, f func(i int) error) (cpu, wall float64, err error) {
	before, start := processor(), time.Now()
	for i := range n {
		if err = f(i); err != nil {
			break
		}
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	return each(processor() - before), each(time.Since(start)), err
}

// processor returns the CPU that the process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// status returns a figure of /proc/self/status in MB; 0 where there is none.
func status(key string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, key); found {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}

// scanCatalog reads tables and columns as bare as a program can.
func scanCatalog(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT l.name, m.sql, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
		FROM pragma_table_list l JOIN sqlite_master m ON m.name = l.name, pragma_table_xinfo(l.name, l.schema) c`)
	if err != nil {
		return err
	}
	defer rows.Close()
	type column struct {
		table, definition, name, kind string
		standard                      sql.NullString
		required                      bool
		place, hidden                 int
	}
	var all []column
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.definition, &c.name, &c.kind, &c.required, &c.standard, &c.place,
			&c.hidden); err != nil {
			return err
		}
		all = append(all, c)
	}
	runtime.KeepAlive(all)
	return rows.Err()
}

// atOnce is what the model says: a statement, or the least JSON of the shape that is asked for, which says yes to one
// table.
func atOnce(r llm.Request, table string) string {
	var shape map[string]any
	if json.Unmarshal(r.Schema, &shape) == nil {
		needed := slices.ContainsFunc(r.Messages, func(m llm.Message) bool {
			return strings.Contains(m.Text, strings.Trim(table, `"`))
		})
		if reply, err := json.Marshal(leastOf(shape, needed)); err == nil {
			return string(reply)
		}
	}
	if table != wideTable {
		return "```sql\nSELECT count(*) FROM " + table + ";\n```"
	}
	return "```sql\nSELECT count(*) FROM billing_invoice_fact WHERE status = 'open';\n```"
}

func leastOf(shape map[string]any, needed bool) any {
	switch kind := shape["type"]; {
	case kind == "object":
		of := map[string]any{}
		properties, _ := shape["properties"].(map[string]any)
		for name, property := range properties {
			inner, _ := property.(map[string]any)
			of[name] = leastOf(inner, needed)
		}
		return of
	case kind == "array":
		if items, _ := shape["items"].(map[string]any); items["type"] == "object" {
			return []any{leastOf(items, needed)}
		}
		return []any{}
	case kind == "boolean":
		return needed
	case kind == "number", kind == "integer":
		if needed {
			return 1
		}
		return 0
	case shape["enum"] != nil:
		return shape["enum"].([]any)[0]
	}
	return "invoices"
}

// Names of a warehouse.
var (
	wideKinds = strings.Fields("fact dim log history snapshot staging summary detail archive map")
	wideAreas = strings.Fields("billing sales logistics retail payroll marketing support finance inventory security " +
		"network " +
		"research quality legal travel training fleet energy claims pension loyalty web mobile partner audit")
	wideThings = strings.Fields("invoice customer shipment product employee order payment contract ticket account " +
		"supplier campaign " +
		"asset vehicle device sensor route region branch store price discount refund return visit session event message " +
		"document policy " +
		"claim premium budget forecast target project task shift skill course")
	wideColumns = strings.Fields("status amount currency country city created_at updated_at quantity unit_price total " +
		"tax_rate due_date category " +
		"priority owner channel source weight height width notes rating score language version email_domain birth_year " +
		"postal_code " +
		"latitude longitude start_date end_date is_active reason level duration distance capacity balance limit_value")
)

// makeWide writes a database of so many tables of 20 columns, unless it is there.
func makeWide(ctx context.Context, path string, tables int) error {
	name := func(n int) string { // the first ones differ in everything
		area, thing := n%len(wideAreas), n%len(wideThings)
		round := n / 200 // 25 and 40 meet after 200
		return wideAreas[(area+round%5)%len(wideAreas)] + "_" + wideThings[thing] + "_" + wideKinds[round/5%len(wideKinds)]
	}
	return makeTables(ctx, path, func(tx *sql.Tx) error {
		for n := range tables {
			text := "CREATE TABLE " + name(n) + " (id INTEGER PRIMARY KEY, " + wideThings[n%len(wideThings)] + "_name TEXT"
			values := "1, 'first'"
			for c := range 17 {
				column := wideColumns[(n*7+c*3)%len(wideColumns)]
				kind, value := "TEXT", "'open'"
				switch c % 3 {
				case 1:
					kind, value = "INTEGER", "2024"
				case 2:
					kind, value = "REAL", "1.5"
				}
				text += ", " + column + " " + kind
				values += ", " + value
			}
			text += ", parent_id INTEGER REFERENCES " + name(n/2) + "(id))"
			if _, err := tx.ExecContext(ctx, text+"; INSERT INTO "+name(n)+" VALUES ("+values+", 1)"); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeTables lets write fill a new database, unless it is there.
func makeTables(ctx context.Context, path string, write func(tx *sql.Tx) error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	temporary := path + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "file:"+temporary+"?_journal=OFF&_sync=OFF")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(write(tx), tx.Commit(), db.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
