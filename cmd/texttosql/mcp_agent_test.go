//go:build !no_duckdb

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// reader is an agent by a script. It knows SQL and English words, and of the server nothing but what the list of tools
// says: it finds a tool by the words of what it wants, an argument by the words of what it knows, and writes the
// functions that the texts show. No name of a tool or of an argument stands in the script.
type reader struct {
	t     *testing.T
	cs    *mcp.ClientSession
	tools []*mcp.Tool
	of    string // which database
}

// fact is something the agent knows, in words.
type fact struct {
	words string
	value any
}

var plainWord = regexp.MustCompile(`[a-z]{2,}`)

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range plainWord.FindAllString(strings.ToLower(text), -1) {
		all[strings.TrimSuffix(word, "s")] = true
	}
	return all
}

// nearest is the place of the text that has most of the words, rare ones first; -1: none has any.
func nearest(wanted string, texts []string) (best int) {
	best, most := -1, 0.0
	for i, text := range texts {
		score, has := 0.0, wordsOf(text)
		for word := range wordsOf(wanted) {
			if !has[word] {
				continue
			}
			among := 0
			for _, other := range texts {
				if wordsOf(other)[word] {
					among++
				}
			}
			score += 1 / float64(among)
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// tool is the one whose text says most of what is wanted.
func (r *reader) tool(wanted string) *mcp.Tool {
	texts := make([]string, len(r.tools))
	for i, tool := range r.tools {
		texts[i] = tool.Title + " " + tool.Description
	}
	return r.tools[nearest(wanted, texts)]
}

// do calls the tool that does what is wanted, with what is known, and returns what it says.
func (r *reader) do(wanted string, known ...fact) string {
	r.t.Helper()
	tool := r.tool(wanted)
	schema := tool.InputSchema.(map[string]any)
	properties := schema["properties"].(map[string]any)
	var names, texts []string
	args := map[string]any{}
	for name, p := range properties {
		said, _ := p.(map[string]any)["description"].(string)
		if list, _ := p.(map[string]any)["enum"].([]any); slices.Contains(list, any(r.of)) {
			args[name] = r.of
			continue
		}
		names, texts = append(names, name), append(texts, name+" "+said)
	}
	for _, f := range known {
		if i := nearest(f.words, texts); i >= 0 {
			args[names[i]] = f.value
		}
	}
	res := testutil.Value(r.cs.CallTool(r.t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: args}))(r.t)
	text := ""
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text
}

const (
	running = "run a statement that reads, and gives its rows"
	showing = "show the tables and columns, keys and descriptions"
)

// rows runs a statement and returns the lines of its rows. It goes on where the text says that there are more.
func (r *reader) rows(statement string, more ...fact) (lines []string) {
	r.t.Helper()
	told := append([]fact{{"the statement", statement}}, more...)
	known := told
	for {
		text := r.do(running, known...)
		_, rows, found := strings.Cut(text, "CSV")
		if !found {
			return []string{text}
		}
		block, _, _ := strings.Cut(rows, "\n(")
		lines = append(lines, strings.Split(block, "\n")[2:]...)
		next := regexp.MustCompile(`next ones: (\w+) (\d+)`).FindStringSubmatch(text)
		if next == nil {
			return lines
		}
		known = append(slices.Clone(told), fact{next[1], next[2]})
	}
}

// shown finds how the texts write something in the language of the database; "": they do not say.
func (r *reader) shown(pattern string) string {
	said := r.tool(running).Description
	if _, mine, several := strings.Cut(said, r.of+" is "); several {
		said = regexp.MustCompile(`\. \w+ is `).Split(mine, 2)[0]
	}
	return regexp.MustCompile(pattern).FindString(said)
}

// task is something a person wants to know of the shop.
type task struct {
	wish string
	does func(r *reader) string
	want string
}

var shopTasks = []task{
	{"how many customers are there?", func(r *reader) string {
		text := r.do(showing, fact{"names of tables", []string{"customers"}}, fact{"how many rows each has, stored values",
			true})
		return regexp.MustCompile(`customers: (\d+ rows)`).FindStringSubmatch(text)[1]
	}, "40 rows"},
	{"which tables refer to customers?", func(r *reader) string {
		text := r.do(showing, fact{"names of tables", []string{"customers"}})
		return regexp.MustCompile(`(\w+) \((\w+)\) REFERENCES customers`).FindString(text)
	}, "orders (customer_id) REFERENCES customers"},
	{"how many orders of May 2024?", func(r *reader) string {
		month := r.shown(`\w+\([^)]*%Y-%m[^)]*\)`)
		month = regexp.MustCompile(`\bd\b`).ReplaceAllString(month, "ordered_on")
		return strings.Join(r.rows("SELECT count(*) FROM orders WHERE "+month+" = '2024-05'"), " ")
	}, "3"},
	{"how many customers come from germani?", func(r *reader) string {
		text := r.do("which columns hold a value, spelled alike", fact{"how it is spelled", "germani"})
		near := regexp.MustCompile(`(\w+)\.(\w+): (\w+) \(`).FindStringSubmatch(text)
		return strings.Join(r.rows(fmt.Sprintf("SELECT count(*) FROM %s WHERE %s = '%s'", near[1], near[2], near[3])), " ")
	}, "6"},
	{"the names of all customers, however many", func(r *reader) string {
		names := r.rows("SELECT name FROM customers ORDER BY name")
		return fmt.Sprint(len(names), " ", names[0])
	}, "40 Ada Kowalski"},
	{"what does a product look like?", func(r *reader) string {
		text := r.do("a few stored rows of a table", fact{"name of a table", "products"}, fact{"how many rows to give", 1})
		return strings.Split(text, "\n")[1]
	}, "id,name,category,price"},
	{"take the first customer away", func(r *reader) string {
		return strings.Join(r.rows("DELETE FROM customers WHERE id = 1"), " ")
	}, "This only reads. Write one SELECT"},
	{"what would be read for the orders of a country?", func(r *reader) string {
		return r.do("without running it: may a statement run here, and what does it read", fact{"the statement",
			"SELECT count(*) FROM orders JOIN customers ON customers.id = customer_id WHERE country = 'USA'"})
	}, "passes (query runs it); reads"},
	{"what share of the orders was shipped?", func(r *reader) string {
		share := "a / b"
		if exact := r.shown(`1\.0 \* a / b`); exact != "" {
			share = exact
		}
		share = regexp.MustCompile(`\ba\b`).ReplaceAllString(share, "sum(CASE WHEN status = 'shipped' THEN 1 ELSE 0 END)")
		share = regexp.MustCompile(`\bb\b`).ReplaceAllString(share, "count(*)")
		return strings.Join(r.rows("SELECT round("+share+", 3) FROM orders"), " ")
	}, "0.592"},
	{"the categories of products in one line", func(r *reader) string {
		list := r.shown(`group_concat|string_agg`)
		return strings.Join(r.rows("SELECT "+list+"(category, '; ') FROM (SELECT DISTINCT category FROM products "+
			"ORDER BY 1) AS c"), " ")
	}, "; "},
	{"all of 2,144 rows", func(r *reader) string {
		most := regexp.MustCompile(`(\d+) at most`).FindStringSubmatch(r.tool(running).Description)[1]
		rows := r.rows("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2144) SELECT x FROM n",
			fact{"how many rows to give", most})
		return fmt.Sprint(len(rows), " ", rows[0], " ", rows[len(rows)-1])
	}, "2144 1 2144"},
	{"why is the answer to a vague question unsure?", func(r *reader) string {
		text := r.do("answers a question, statements are sampled and vote",
			fact{"what to know, the user's words", "How much do we have?"})
		id := regexp.MustCompile(`answer id (\w+)`).FindStringSubmatch(text)
		if id == nil {
			return text
		}
		return text + r.do("why an answer was chosen, how the samples voted", fact{"of a result of ask", id[1]})
	}, "Why it is in doubt: this answer has "},
	{"how many people work here, asked of the wrong database?", func(r *reader) string {
		told := strings.Join(r.rows("SELECT count(*) FROM staff"), " ")
		if other := regexp.MustCompile(`The database (\w+) has it`).FindStringSubmatch(told); other != nil {
			r.of = other[1]
		}
		return strings.Join(r.rows("SELECT count(*) FROM staff"), " ")
	}, "2"},
	{"the name of a customer, with a slip", func(r *reader) string {
		told := strings.Join(r.rows("SELECT nme FROM customers WHERE id = 1"), " ")
		if meant := regexp.MustCompile(`mean (\w+)\?`).FindStringSubmatch(told); meant != nil {
			return strings.Join(r.rows("SELECT "+meant[1]+" FROM customers WHERE id = 1"), " ")
		}
		return told
	}, "Ada Kowalski"},
	{"where a customer lives, without a look at the schema", func(r *reader) string {
		told := strings.Join(r.rows("SELECT home FROM customers WHERE id = 1"), " ")
		if column := regexp.MustCompile(`customers has .*(c\w+),`).FindStringSubmatch(told); column != nil {
			return strings.Join(r.rows("SELECT "+column[1]+" FROM customers WHERE id = 1"), " ")
		}
		return told
	}, "USA"},
}

// TestServeMCPToAReader: an agent that knows only the texts of the tools does its tasks on two databases of different
// languages.
func TestServeMCPToAReader(t *testing.T) {
	shop := shopFile(t)
	duck := filepath.Join(t.TempDir(), "shop.duckdb")
	script := string(testutil.Value(os.ReadFile("../../examples/shop/shop.sql"))(t))
	db := testutil.Value(sql.Open("duckdb", duck))(t)
	testutil.Value(db.Exec(strings.Replace(script, "PRAGMA foreign_keys = ON;", "", 1)))(t)
	testutil.OK(t, db.Close())

	errs := newNotes(t)
	staff := filepath.Join(t.TempDir(), "staff.db")
	other := testutil.Value(sql.Open("sqlite3", staff))(t)
	testutil.Value(other.Exec("CREATE TABLE staff (name TEXT); INSERT INTO staff VALUES ('Al'), ('Bo')"))(t)
	testutil.OK(t, other.Close())

	things := func(_ string, call int) string {
		return "SELECT count(*) FROM " + []string{"customers", "orders", "products"}[call%3]
	}
	cmd := asProgram(newFakeProvider(t), "serve-mcp", "--db", "shop="+shop, "--db", "mart=duckdb:"+duck, "--db",
		"hr="+staff, "-n", "3")
	for name, value := range asking(t, things) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = errs.File
	cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil))(t)
	defer cs.Close()
	list := testutil.Value(cs.ListTools(t.Context(), nil))(t)
	for _, name := range []string{"shop", "mart"} {
		for _, task := range shopTasks {
			t.Run(name+"/"+task.wish, func(t *testing.T) {
				r := &reader{t: t, cs: cs, tools: list.Tools, of: name}
				if got := task.does(r); !strings.Contains(got, task.want) {
					t.Errorf("%q, want %q", got, task.want)
				}
			})
		}
	}
}
