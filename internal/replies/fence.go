package replies

import (
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// block is one fenced part of a reply.
type block struct {
	body       string
	start, end int  // bytes of the block, fences included
	closed     bool // the closing fence is there
	language   bool // a word that we know for a language stands behind the opening fence
}

// fencedBlocks finds the blocks between ``` or ~~~ fences. A block may start in the middle of a line, may be one line,
// and need not be closed.
func fencedBlocks(s string) []block {
	var blocks []block
	for at := 0; ; {
		open, mark := nextFence(s, at)
		if open < 0 {
			return blocks
		}
		body := open + len(mark)
		for body < len(s) && s[body] == mark[0] {
			body++
		}
		word := body
		body += languageWord(s[body:])
		end, next := closingFence(s, body, mark)
		b := block{start: open, end: next, closed: end < next, language: isLanguage(strings.TrimSpace(s[word:body]))}
		b.body = strings.TrimRight(s[body:end], mark[:1]) // of a closing fence that was cut
		if strings.EqualFold(strings.TrimSpace(s[word:body]), "diff") {
			b.body = applied(b.body)
		}
		blocks = append(blocks, b)
		at = next
		if end == next && next < len(s) {
			// The next fence opens a block of its own: this one was not closed.
			at = end
		}
	}
}

// nextFence returns the next opening fence: ``` anywhere, ~~~ where a line starts (in the middle it may be an
// operator).
func nextFence(s string, at int) (pos int, mark string) {
	ticks := strings.Index(s[at:], "```")
	for i := at; i < len(s); {
		n := strings.Index(s[i:], "~~~")
		if n < 0 || ticks >= 0 && n+i > ticks+at {
			break
		}
		if words.StartsLine(s, i+n) {
			return i + n, "~~~"
		}
		i += n + 3
	}
	if ticks < 0 {
		return -1, ""
	}
	return at + ticks, "```"
}

// attributes are those of a block behind its language, as documents have them.
var attributes = regexp.MustCompile(`^\s*(?:\{[.#][^{}]*\}|[a-zA-Z-]+="[^"]*")$`)

// languageWord returns the length of what stands behind an opening fence and is no part of the body: any word that ends
// the line, or a known one before a query on the same line.
func languageWord(s string) int {
	line, _, more := strings.Cut(s, "\n")
	word := strings.TrimSpace(line)
	if more && !strings.ContainsAny(word, " \t`~();") && !isQueryWord(word) {
		return len(line) + 1
	}
	first, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	if isLanguage(first) && more && attributes.MatchString(word[len(first):]) {
		return len(line) + 1
	}
	if isLanguage(first) {
		return strings.Index(s, first) + len(first)
	}
	return 0
}

func isLanguage(word string) bool {
	return isOneOf(word, "SQL", "SQLITE", "SQLITE3", "MYSQL", "MARIADB", "POSTGRES", "POSTGRESQL", "PGSQL", "PLSQL",
		"TSQL", "DUCKDB", "BIGQUERY", "GOOGLESQL", "SNOWFLAKE", "JSON", "TEXT", "TXT", "PLAINTEXT", "CODE")
}

// closingFence returns the end of the body that starts at s[at:] and the byte
// behind its closing fence; both are equal where there is none.
func closingFence(s string, at int, mark string) (end, next int) {
	for i := at; ; {
		n := strings.Index(s[i:], mark)
		if n < 0 {
			return len(s), len(s)
		}
		pos := i + n
		after := pos
		for after < len(s) && s[after] == mark[0] {
			after++
		}
		line, _, _ := strings.Cut(s[after:], "\n")
		rest := strings.TrimSpace(line)
		switch {
		case words.StartsLine(s, pos) && pos > at && rest != "" && isLanguage(rest):
			return pos, pos // a new block
		case words.StartsLine(s, pos), rest == "", !strings.Contains(s[at:pos], "\n"):
			return pos, after
		}
		i = after // inside a line of the body, as in a string
	}
}

// CompleteBlocks returns a reply that was cut up to the end of its last closed code block, what stands before it
// included: a statement in such a block is whole. It returns "" for a reply without one.
func CompleteBlocks(reply string) string {
	if after, cut := words.AfterReasoning(reply); cut || len(after) > maxBytes {
		return ""
	} else if len(reply) > maxBytes {
		reply = after
	}
	end := 0
	for _, b := range fencedBlocks(reply) {
		if b.closed && strings.TrimSpace(b.body) != "" {
			end = b.end
		}
	}
	return reply[:end]
}
