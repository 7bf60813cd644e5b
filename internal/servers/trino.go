package servers

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed trino
var trinoFiles embed.FS

var trinoKind = kind{
	variable: "TEXTTOSQL_JAVA", needs: []string{"java", "javac", "mvn"},
	remedy: "apt-get install openjdk-17-jdk-headless maven", halt: "TERM", kill: "KILL", slow: true,
	ready: func(s *Server) bool { _, err := os.Stat(s.Dir + "/ready"); return err == nil },
	make: func(_ func(string) string, dir string) [][]string {
		return [][]string{{"sh", "-c", `echo '{}' >"$0"`, dir + "/rules.json"}}
	},
}

// Trino starts two nodes of Trino 435 in one process, with the catalogs tpch and memory, for any user without a
// password. Access is by the rules of the file rules.json in Dir, at first by none, so that everybody may do all. To
// change them replace the file (write another one and rename it); the server reads it every 100 ms.
//
// It needs Java 17 or later and Maven, of the folder TEXTTOSQL_JAVA or of PATH. The first start on a machine fetches
// the 134 MB of the server, which stay in the user's cache directory. A start takes 20 s, and longer on a busy machine.
// What is in the catalog memory goes when the server ends.
func Trino() (*Server, error) {
	k := trinoKind
	bin, err := k.programs()
	if err != nil {
		return nil, err
	}
	home, err := trinoHome(bin)
	if err != nil {
		return nil, err
	}
	k.start = func(bin func(string) string, dir string, port int) []string {
		_ = os.Remove(dir + "/ready") // of the run before
		return []string{bin("java"), "-Xmx2g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", home + "/lib/*:" + home,
			"Run", fmt.Sprint(port), dir}
	}
	return start(k)
}

// trinoHome is the folder of the server's classes, which is made where there is none.
func trinoHome(bin func(string) string) (home string, err error) {
	version, err := exec.Command(bin("javac"), "-version").CombinedOutput()
	major := 0
	if _, scanErr := fmt.Sscanf(string(version), "javac %d", &major); err != nil || scanErr != nil || major < 17 {
		return "", fmt.Errorf("%w: %s is %q and no Java 17 or later (%s)", ErrMissing, bin("javac"),
			strings.TrimSpace(string(version)), trinoKind.remedy)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: no folder to keep it in: %w", ErrMissing, err)
	}
	hash := sha256.New()
	work := filepath.Join(cache, "texttosql")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	if work, err = os.MkdirTemp(work, "making-trino-*"); err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for _, name := range []string{"pom.xml", "Run.java"} {
		text, err := trinoFiles.ReadFile("trino/" + name)
		if err != nil {
			return "", err
		}
		hash.Write(text)
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return "", err
		}
	}
	home = filepath.Join(cache, "texttosql", fmt.Sprintf("trino-435-%.4x", hash.Sum(nil)))
	if _, err := os.Stat(home); err == nil {
		return home, nil
	}
	for _, command := range [][]string{
		{bin("mvn"), "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
			"-DoutputDirectory=lib"},
		{bin("javac"), "-cp", "lib/*", "Run.java"},
	} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir = work
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("servers: making Trino: %s: %w: %s", filepath.Base(command[0]), err,
				out[max(0, len(out)-2000):])
		}
	}
	if err := os.Chmod(work, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(work, home); err != nil {
		if _, there := os.Stat(home); there != nil { // nobody else made it meanwhile
			return "", err
		}
	}
	return home, nil
}

// EndWorker ends a node of Trino that is not the coordinator, at once; AddWorker adds one. What the catalog memory had
// on the node is lost.
func (s *Server) EndWorker() error { return s.order("end") }

// AddWorker adds a node to Trino.
func (s *Server) AddWorker() error { return s.order("add") }

func (s *Server) order(what string) error {
	file := s.Dir + "/order"
	if err := os.WriteFile(file+".new", []byte(what), 0o644); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	return errors.New("servers: Trino does not obey")
}
