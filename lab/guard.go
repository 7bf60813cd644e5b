package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// guardVerb runs hostile statements through a tool of a server of the Model Context Protocol.
type guardVerb struct {
	Data    string        `required:"" placeholder:"DIR" help:"Folder of the evaluation data, with security/payloads.jsonl."`
	Tool    string        `default:"query" help:"The tool that runs a statement; default: query."`
	Arg     string        `default:"sql" help:"Its argument that takes the statement; default: sql."`
	Within  time.Duration `default:"5s" help:"How long a statement may take; default: 5s."`
	Items   bool          `help:"Write a line for each statement that did not do what is expected."`
	Command []string      `arg:"" passthrough:"" help:"The server. {db} stands for a SQLite file, {policy} for a JSON file of exec.Policy."`
}

// Help is the part of --help below the flags.
func (guardVerb) Help() string {
	return `  go run . guard --data DIR -- texttosql serve-mcp --db {db} --policy {policy}
  go run . guard --data DIR --tool read_query --arg query -- uvx mcp-server-sqlite --db-path {db}

Executed is what must be refused and was answered, had no reply in time, or changed the file. A server that is late or gone is started again.`
}

// payload is a line of the hostile statements: one of text, base64 and generator, and what must become of it.
type payload struct {
	ID, Engine, Expect, Why, Text string
	Base64                        []byte
	Generator                     struct {
		Prefix, Repeat, Middle, Close, Suffix string
		Times                                 int
	}
	Policy struct {
		DenyColumns []string `json:"deny_columns"`
		DenyTables  []string `json:"deny_tables"`
	}
}

// guardCounts is the row of a server.
type guardCounts struct {
	Refuse, Executed, Plain, PlainExecuted, Changed, Survive, Late, Accept, WronglyRefused int
}

// Run runs them.
func (g *guardVerb) Run(p *program) error {
	file, err := os.ReadFile(filepath.Join(g.Data, "security", "payloads.jsonl"))
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "lab-guard")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var server *mcpServer
	defer func() { server.stop() }()
	var row guardCounts
	policy, digest := "", [32]byte{}
	for line := range bytes.Lines(file) {
		var item payload
		if err := json.Unmarshal(line, &item); err != nil {
			return err
		}
		gen := item.Generator
		text := item.Text + string(item.Base64) + gen.Prefix + strings.Repeat(gen.Repeat, gen.Times) + gen.Middle +
			strings.Repeat(gen.Close, gen.Times) + gen.Suffix
		if item.Engine != "sqlite" {
			continue
		}
		rules, err := json.Marshal(map[string][]string{
			"DenyColumns": append([]string{}, item.Policy.DenyColumns...),
			"DenyTables":  append([]string{}, item.Policy.DenyTables...)})
		if err != nil {
			return err
		}
		if server == nil || string(rules) != policy {
			server.stop()
			policy = string(rules)
			if server, digest, err = g.start(p.ctx, folder, rules); err != nil {
				return err
			}
		}
		ok, err := server.call(p.ctx, g.Tool, map[string]any{g.Arg: text}, g.Within)
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		late, memory := err != nil, server.memory()
		now, herr := digestOf(folder)
		if herr != nil {
			return herr
		}
		changed := now != digest
		plain := len(item.Policy.DenyColumns)+len(item.Policy.DenyTables) == 0
		wrong := row.count(item.Expect, plain, ok, late, changed, memory > 500)
		if wrong && g.Items {
			fmt.Fprintf(p.out, "%s (%s): answered %v, late %v, changed %v, %d MiB: %s\n", item.ID, item.Expect, ok, late,
				changed, memory, item.Why)
		}
		if late || changed || memory > 500 {
			server.stop()
			server = nil
		}
	}
	_, err = fmt.Fprintf(p.out, "executed %d of %d (plain %d of %d), files changed %d, survive late or over 500 MB %d "+
		"of %d, accept refused %d of %d\n",
		row.Executed, row.Refuse, row.PlainExecuted, row.Plain, row.Changed, row.Late, row.Survive, row.WronglyRefused,
		row.Accept)
	return err
}

// count adds what became of a statement, and reports whether it is not what is expected.
func (t *guardCounts) count(expect string, plain, ok, late, changed, large bool) (wrong bool) {
	if changed {
		t.Changed++
	}
	switch expect {
	case "refuse":
		wrong = ok || late || changed
		t.Refuse += 1
		t.Executed += count(wrong)
		t.Plain += count(plain)
		t.PlainExecuted += count(plain && wrong)
	case "survive":
		wrong = late || large || changed
		t.Survive++
		t.Late += count(late || large)
	case "accept":
		wrong = !ok
		t.Accept++
		t.WronglyRefused += count(wrong)
	}
	return wrong
}

// start makes the fixture of the payloads' README anew, and starts the server on it.
func (g *guardVerb) start(ctx context.Context, folder string, rules []byte) (s *mcpServer, digest [32]byte, err error) {
	if err := errors.Join(os.RemoveAll(folder), os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "policy.json"),
		rules, 0o600)); err != nil {
		return nil, digest, err
	}
	db, err := sql.Open("sqlite3", filepath.Join(folder, "fixture.db"))
	if err != nil {
		return nil, digest, err
	}
	_, err = db.ExecContext(ctx, `CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');`)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, digest, err
	}
	args := make([]string, len(g.Command))
	for i, arg := range g.Command {
		args[i] = strings.NewReplacer("{db}", filepath.Join(folder, "fixture.db"), "{policy}",
			filepath.Join(folder, "policy.json")).Replace(arg)
	}
	if args[0] == "--" {
		args = args[1:]
	}
	if s, err = startMCP(ctx, args); err != nil {
		return nil, digest, err
	}
	digest, err = digestOf(folder)
	return s, digest, err
}

// digestOf changes with every file of a folder, those aside that reading a database in WAL mode makes.
func digestOf(folder string) (sum [32]byte, err error) {
	var all bytes.Buffer
	files, err := os.ReadDir(folder)
	for _, f := range files {
		if text, rerr := os.ReadFile(filepath.Join(folder, f.Name())); rerr == nil {
			fmt.Fprintf(&all, "%s %x\n", f.Name(), sha256.Sum256(text))
		}
	}
	return sha256.Sum256(all.Bytes()), err
}

// mcpServer is a process that speaks the Model Context Protocol on standard input and output.
type mcpServer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan message
	calls   int
}

// message is what is read of a reply.
type message struct {
	ID     int             `json:"id"`
	Error  json.RawMessage `json:"error"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
	} `json:"result"`
}

// failed is how an error begins that a server gives as a text and not as an error.
var failed = regexp.MustCompile(`(?i)^\s*(database )?error\b`)

func startMCP(ctx context.Context, args []string) (*mcpServer, error) {
	s := &mcpServer{cmd: exec.CommandContext(ctx, args[0], args[1:]...), replies: make(chan message)}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	go func() {
		defer close(s.replies)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 256<<20)
		for lines.Scan() {
			var m message
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.ID > 0 {
				s.replies <- m
			}
		}
	}()
	_, err = s.send(ctx, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "lab", "version": "1"}}, time.Minute)
	if err == nil {
		_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s did not begin: %w", args[0], err)
	}
	return s, nil
}

// call reports whether a tool answered without an error. An error says that there was no reply in time.
func (s *mcpServer) call(ctx context.Context, tool string, args map[string]any, within time.Duration) (ok bool,
	err error) {
	m, err := s.send(ctx, "tools/call", map[string]any{"name": tool, "arguments": args}, within)
	told := len(m.Result.Content) > 0 && failed.MatchString(m.Result.Content[0].Text)
	return err == nil && m.Error == nil && !m.Result.IsError && !told, err
}

func (s *mcpServer) send(ctx context.Context, method string, params any, within time.Duration) (m message, err error) {
	s.calls++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": s.calls, "method": method, "params": params})
	if err != nil {
		return m, err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return m, err
	}
	for {
		select {
		case m, open := <-s.replies:
			if !open {
				return m, errors.New("the server has ended")
			}
			if m.ID == s.calls {
				return m, nil
			}
		case <-timer.C:
			return m, errors.New("no reply in time")
		case <-ctx.Done():
			return m, ctx.Err()
		}
	}
}

// memory is the most that the process took, in MiB; 0 where there is no /proc.
func (s *mcpServer) memory() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kib >> 10
		}
	}
	return 0
}

// stop ends the process.
func (s *mcpServer) stop() {
	if s == nil {
		return
	}
	s.in.Close()
	s.cmd.Process.Kill()
	for range s.replies { // until its output ends
	}
	s.cmd.Wait()
}
