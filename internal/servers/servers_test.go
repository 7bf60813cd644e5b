package servers_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/texttosql/texttosql/internal/servers"
)

// TestServers starts, ends, resumes and removes one server of each make.
func TestServers(t *testing.T) {
	for name, start := range map[string]func() (*servers.Server, error){"PostgreSQL": servers.Postgres, "MariaDB": servers.MariaDB} {
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
