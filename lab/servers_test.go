package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a database server on loopback that starts when the first test asks for it.
type server struct {
	needs []string // programs
	make  func(bin func(string) string, dir string) []string
	start func(bin func(string) string, dir string, port int) []string
	ready func(dir string, port int) bool

	once  sync.Once
	port  int
	err   error
	input io.Closer // of the shell that ends the server when this process has ended, or closes it
	shell *exec.Cmd
}

var postgresServer = &server{
	needs: []string{"initdb", "postgres"},
	make: func(bin func(string) string, dir string) []string {
		return []string{bin("initdb"), "-D", dir + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
			"--no-sync"}
	},
	start: func(bin func(string) string, dir string, port int) []string {
		return []string{bin("postgres"), "-D", dir + "/data", "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=" + dir, "-c", "fsync=off"}
	},
	ready: func(dir string, _ int) bool {
		text, _ := os.ReadFile(dir + "/data/postmaster.pid")
		return strings.Contains(string(text), "\nready")
	},
}

var mysqlServer = &server{
	needs: []string{"mariadb-install-db", "mariadbd"},
	make: func(bin func(string) string, dir string) []string {
		return []string{bin("mariadb-install-db"), "--no-defaults", "--user=root", "--datadir=" + dir + "/data",
			"--auth-root-authentication-method=normal", "--skip-test-db"}
	},
	start: func(bin func(string) string, dir string, port int) []string {
		return []string{bin("mariadbd"), "--no-defaults", "--user=root", "--datadir=" + dir + "/data",
			fmt.Sprintf("--port=%d", port),
			"--bind-address=127.0.0.1", "--tmpdir=" + dir, "--socket=" + dir + "/s.sock", "--pid-file=" + dir + "/pid",
			"--skip-name-resolve"}
	},
	ready: func(_ string, port int) bool { // it greets
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return false
		}
		defer c.Close()
		c.SetReadDeadline(time.Now().Add(time.Second))
		n, _ := c.Read(make([]byte, 5))
		return n > 0
	},
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range []*server{postgresServer, mysqlServer} {
		if s.input != nil {
			s.input.Close()
			s.shell.Wait()
		}
	}
	os.Exit(code)
}

// at returns the port of the server. Without its programs the test is skipped, and fails where CI is "true".
func (s *server) at(t testing.TB) int {
	t.Helper()
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(append(dirs, "/usr/sbin"), filepath.SplitList(os.Getenv("PATH"))...)
	bin := func(program string) string {
		for _, dir := range dirs {
			if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
				return path
			}
		}
		return ""
	}
	for _, program := range s.needs {
		if bin(program) == "" && os.Getenv("CI") != "true" {
			t.Skipf("the server is not installed: no program %s", program)
		}
	}
	s.once.Do(func() { s.err = s.run(bin) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.port
}

func (s *server) run(bin func(string) string) error {
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		return err
	}
	var as []string
	if s == postgresServer && os.Getuid() == 0 { // which refuses to run as root
		as = []string{"runuser", "-u", "postgres", "--"}
		if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	command := func(args ...string) *exec.Cmd {
		args = append(as, args...)
		c := exec.Command(args[0], args[1:]...)
		c.Dir = "/"
		return c
	}
	if out, err := command(s.make(bin, dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	const watch = `"$@" >"$0/log" 2>&1 </dev/null & read -r _; kill -QUIT $!; sleep 0.2; kill -KILL $! 2>/dev/null; rm -rf "$0"`
	s.shell = command(append([]string{"sh", "-c", watch, dir}, s.start(bin, dir, s.port)...)...)
	if s.input, err = s.shell.StdinPipe(); err != nil {
		return err
	}
	if err := s.shell.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); !s.ready(dir, s.port); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(dir + "/log")
			return fmt.Errorf("the server does not answer: %s", log)
		}
	}
	return nil
}
