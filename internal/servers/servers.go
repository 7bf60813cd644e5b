// Package servers starts database servers on loopback, for tests and demonstrations. Each has a data folder of its own,
// which goes with it, and ends with the process that started it, however that ends.
package servers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrMissing matches the error of a start without the server's programs.
var ErrMissing = errors.New("servers: the server is not installed")

// Server is one that runs.
type Server struct {
	Port int    // on 127.0.0.1
	Dir  string // its folder, with its log

	kind  kind
	bin   func(program string) string
	input io.WriteCloser // of the shell that watches the server
	ended chan error
}

// kind is how servers of one make are found, made and started.
type kind struct {
	variable string   // names a folder of programs to take instead
	needs    []string // programs
	remedy   string   // how to get them
	user     string   // who runs the server where root must not
	halt     string   // the signal that shuts it down
	kill     string   // the signal that ends it at once, with its children
	slow     bool     // it may take minutes to start
	ready    func(*Server) bool
	make     func(bin func(string) string, dir string) [][]string
	start    func(bin func(string) string, dir string, port int) []string
}

// Postgres starts a PostgreSQL server with the superuser postgres, who needs no password. The programs are those of the
// folder TEXTTOSQL_POSTGRES, else the newest of /usr/lib/postgresql or PATH.
func Postgres() (*Server, error) {
	return start(kind{
		variable: "TEXTTOSQL_POSTGRES", needs: []string{"initdb", "postgres"}, remedy: "apt-get install postgresql",
		user: "postgres", halt: "INT", kill: "QUIT", ready: postgresReady,
		make: func(bin func(string) string, dir string) [][]string {
			return [][]string{{bin("initdb"), "-D", dir + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
				"--locale=C.UTF-8", "--no-sync"}}
		},
		start: func(bin func(string) string, dir string, port int) []string {
			return []string{bin("postgres"), "-D", dir + "/data", "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1",
				"-c", "unix_socket_directories=" + dir, "-c", "fsync=off", "-c", "max_prepared_transactions=5"}
		},
	})
}

// Standby starts another server on a copy of the data of s, which takes over what s writes and only reads.
func (s *Server) Standby() (*Server, error) {
	k := s.kind
	k.needs = []string{"pg_basebackup", "postgres"}
	k.make = func(bin func(string) string, dir string) [][]string {
		return [][]string{{bin("pg_basebackup"), "-h", "127.0.0.1", "-p", fmt.Sprint(s.Port), "-U", "postgres", "-D",
			dir + "/data", "-R", "-c", "fast"}}
	}
	return start(k)
}

// MariaDB starts a MariaDB server with the user root, who needs no password. The programs are those of the folder
// TEXTTOSQL_MARIADB, else of PATH.
func MariaDB() (*Server, error) {
	return start(kind{
		variable: "TEXTTOSQL_MARIADB", needs: []string{"mariadb-install-db", "mariadbd"},
		remedy: "apt-get install mariadb-server-core mariadb-client-core", halt: "TERM", kill: "KILL", ready: mariadbReady,
		make: func(bin func(string) string, dir string) [][]string {
			return [][]string{{bin("mariadb-install-db"), "--no-defaults", "--user=root", "--datadir=" + dir + "/data",
				"--auth-root-authentication-method=normal", "--skip-test-db"}}
		},
		start: func(bin func(string) string, dir string, port int) []string {
			return []string{bin("mariadbd"), "--no-defaults", "--user=root", "--datadir=" + dir + "/data",
				fmt.Sprintf("--port=%d", port),
				"--bind-address=127.0.0.1", "--tmpdir=" + dir, "--socket=" + dir + "/s.sock", "--pid-file=" + dir + "/pid",
				"--skip-name-resolve",
				"--innodb-buffer-pool-size=128M", "--innodb-flush-log-at-trx-commit=0"}
		},
	})
}

// folders are where programs may be that are not on PATH.
func folders(k kind) []string {
	if dir := os.Getenv(k.variable); dir != "" {
		return []string{dir, filepath.Join(filepath.Dir(dir), "scripts")}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // sorted, so the newest is last
	dirs := []string{"/usr/sbin", "/usr/local/sbin"}
	for _, dir := range found {
		dirs = append([]string{dir}, dirs...)
	}
	return append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
}

// programs returns what finds a program of k, all of which are there.
func (k kind) programs() (bin func(program string) string, err error) {
	dirs := folders(k)
	bin = func(program string) string {
		for _, dir := range dirs {
			if path := filepath.Join(dir, program); isProgram(path) {
				return path
			}
		}
		return ""
	}
	for _, program := range k.needs {
		if bin(program) == "" {
			return nil, fmt.Errorf("%w: no program %s (%s, or set %s to its folder)", ErrMissing, program, k.remedy, k.variable)
		}
	}
	return bin, nil
}

func start(k kind) (s *Server, err error) {
	bin, err := k.programs()
	if err != nil {
		return nil, err
	}
	// The path of a socket may have 107 bytes, so not below a test's folder.
	dir, err := os.MkdirTemp(os.Getenv("TEXTTOSQL_SERVERS_DIR"), "t2s")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if os.Getuid() != 0 {
		k.user = ""
	}
	if k.user != "" {
		if out, err := exec.Command("chown", k.user, dir).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("servers: %w: %s", err, out)
		}
	}
	for _, command := range k.make(bin, dir) {
		if out, err := k.command(command).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("servers: %s: %w: %s", command[0], err, out)
		}
	}
	s = &Server{Dir: dir, kind: k, bin: bin}
	for range 5 { // another process may take the port before the server does
		if s.Port, err = freePort(); err != nil {
			return nil, err
		}
		if err = s.run(); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// command is one that runs as the user of the server.
func (k kind) command(args []string) *exec.Cmd {
	if k.user != "" {
		args = append([]string{"runuser", "-u", k.user, "--"}, args...)
	}
	c := exec.Command(args[0], args[1:]...)
	c.Dir = "/"
	if dir := os.Getenv(k.variable); dir != "" { // a server from an archive has its libraries beside its programs
		c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Join(filepath.Dir(dir), "libs")+":"+
			filepath.Join(filepath.Dir(dir), "lib"))
	}
	return c
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// watch is the shell that starts the server and outlives this process, whose end closes its input. It ends the server
// then and removes its folder; a line on its input ends the server only.
const watch = `exec 3<&0; "$@" >>"$0/log" 2>&1 </dev/null 3<&- & server=$!
(if read -r signal <&3; then kill -$signal $server; else kill -QUIT $server; sleep 0.2; kill -KILL $server; rm -rf "$0"; fi) >/dev/null 2>&1 &
exec 3<&-; wait $server`

// run starts the program of the server and waits until it is ready.
func (s *Server) run() error {
	args := s.kind.start(s.bin, s.Dir, s.Port)
	c := s.kind.command(append([]string{"sh", "-c", watch, s.Dir}, args...))
	input, err := c.StdinPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	s.input, s.ended = input, ended
	patience := time.Minute
	if s.kind.slow {
		patience *= 4
	}
	for deadline := time.Now().Add(patience); ; {
		select {
		case err := <-ended:
			ended <- err
			log, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			return fmt.Errorf("servers: the server ended: %v: %s", err, log[max(0, len(log)-2000):])
		case <-time.After(30 * time.Millisecond):
		}
		if s.kind.ready(s) {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.Join(errors.New("servers: the server does not answer"), s.Kill())
		}
	}
}

// Halt ends the server as its own shutdown does, without waiting for its clients, and keeps its data; Kill ends it at
// once. Resume starts it again at the same port.
func (s *Server) Halt() error { return s.end(s.kind.halt) }

// Kill ends the server at once and keeps its data.
func (s *Server) Kill() error { return s.end(s.kind.kill) }

func (s *Server) end(signal string) error {
	if s.input == nil {
		return nil
	}
	_, err := io.WriteString(s.input, signal+"\n")
	<-s.ended
	s.input.Close()
	s.input = nil
	return err
}

// Resume starts a server that was ended.
func (s *Server) Resume() error { return s.run() }

// Close ends the server and removes its folder.
func (s *Server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.Dir)) }

// postgresReady reads what the server writes into its own file. It accepts connections before, with an error.
func postgresReady(s *Server) bool {
	text, err := os.ReadFile(s.Dir + "/data/postmaster.pid")
	return err == nil && (strings.Contains(string(text), "\nready") || strings.Contains(string(text), "\nstandby"))
}

// mariadbReady waits for the greeting.
func mariadbReady(s *Server) bool {
	c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port), time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	n, err := c.Read(make([]byte, 5))
	return err == nil && n > 0
}

// TB is what Lazy needs of a test.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Lazy is a server that starts when the first test asks for it, so that tests without it need none.
type Lazy struct {
	Start  func() (*Server, error)
	once   sync.Once
	server *Server
	err    error
}

// Get returns the server. Unless the environment has TEXTTOSQL_SERVERS=1 it skips the test; without the server's
// programs it then fails it.
func (l *Lazy) Get(t TB) *Server {
	t.Helper()
	if os.Getenv("TEXTTOSQL_SERVERS") == "" {
		t.Skip("servers are started with TEXTTOSQL_SERVERS=1 only, as by .ci/test all")
	}
	l.once.Do(func() { l.server, l.err = l.Start() })
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.server
}

// Run is the body of a TestMain: it runs m and then ends the server.
func (l *Lazy) Run(m interface{ Run() int }) int {
	code := m.Run()
	if l.server != nil {
		_ = l.server.Close()
	}
	return code
}
