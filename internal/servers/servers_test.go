package servers_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestServers starts, ends, resumes and removes one server of each make.
func TestServers(t *testing.T) {
	for name, start := range map[string]func() (*servers.Server, error){"PostgreSQL": servers.Postgres,
		"MariaDB": servers.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lazy := &servers.Lazy{Start: start}
			s := lazy.Get(t)
			listens := func() bool {
				c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port))
				if err == nil {
					c.Close()
				}
				return err == nil
			}
			for what, end := range map[string]func() error{"halted": s.Halt, "killed": s.Kill} {
				if !listens() {
					t.Errorf("not listening before it was %s", what)
				}
				if err := end(); err != nil || listens() {
					t.Errorf("%s: %v", what, err)
				}
				if err := s.Resume(); err != nil {
					t.Fatalf("after it was %s: %v", what, err)
				}
			}
			if err := s.Close(); err != nil || listens() {
				t.Errorf("closed: %v", err)
			}
			if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
				t.Errorf("the folder is still there: %v", err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("TEXTTOSQL_POSTGRES", t.TempDir())
	if _, err := servers.Postgres(); err == nil {
		t.Error("a server without programs starts")
	}
}

// TestNoTrino: without Java the error says what to install. The tests of exec/trino/servertest start one.
func TestNoTrino(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TEXTTOSQL_JAVA", dir)
	if _, err := servers.Trino(); !errors.Is(err, servers.ErrMissing) ||
		!strings.Contains(err.Error(), "apt-get install openjdk") {
		t.Errorf("no Java: %v", err)
	}
	for _, name := range []string{"java", "javac", "mvn"} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho javac 11.0.2\n"), 0o755))
	}
	if _, err := servers.Trino(); !errors.Is(err, servers.ErrMissing) ||
		!strings.Contains(err.Error(), "no Java 17 or later") {
		t.Errorf("Java 11: %v", err)
	}
}
