package agent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
)

// reader reads replies where all tools are there, and finish.
func reader(tb testing.TB) *run {
	db := testutil.Value(exec.New(strategytest.PoolOf(tb, strategytest.ShopSQL), sqlite.Dialect{}, exec.Config{}))(tb)
	r := &run{ReAct: ReAct{published: true}, env: &strategy.Env{DB: db}, tools: Tools()}
	r.calls = r.named()
	return r
}

// TestReadForms are forms that models use in place of the one they were shown.
func TestReadForms(t *testing.T) {
	r := reader(t)
	const sql = "SELECT name FROM customers WHERE id = 1"
	query := action{name: "query", argument: sql}
	open := action{name: "query", argument: sql, open: true}
	for _, tt := range []struct {
		reply string
		want  action // thoughts aside
		why   string
	}{
		{"Thought: t\nAction: query[" + sql + "]", query, "as told"},
		{"Action: query[" + sql + "]", query, "no thought"},
		{"Thought: t\nAction: query[" + sql, open, "no bracket at the end"},
		{"Thought: t\nAction: query " + sql, open, "no bracket"},
		{"Thought: t\nAction: query: " + sql, open, "a colon in place of the bracket"},
		{"Thought: t\nAction: query\n" + sql, open, "the statement on the next line"},
		{"Thought: t\nAction: query\nAction Input: " + sql, open, "the form of LangChain"},
		{"Thought: t\nAction: query\naction_input: " + sql, open, "the same in small letters"},
		{"Thought: t\nAction: query\nInput: " + sql, open, "shorter"},
		{"Thought: t\nAction: query(" + sql + ")", query, "round brackets"},
		{"Thought: t\nAction: query [" + sql + "]", query, "a blank before the bracket"},
		{"Thought: t\nAction: query\n[" + sql + "]", query, "a line end before the bracket"},
		{"Thought: t\nACTION: QUERY[" + sql + "]", query, "capitals"},
		{"thought: t\naction: query[" + sql + "]", query, "small letters"},
		{"Thought 1: t\nAction 1: query[" + sql + "]", query, "numbers"},
		{"**Thought:** t\n**Action:** query[" + sql + "]", query, "bold marks"},
		{"**Thought**: t\n**Action**: query[" + sql + "]", query, "bold marks before the colon"},
		{"- Thought: t\n- Action: query[" + sql + "]", query, "a list"},
		{"> Action: query[" + sql + "]", query, "a quotation"},
		{"## Action: query[" + sql + "]", query, "a heading"},
		{"Thought: t\nAction: `query[" + sql + "]`", query, "backquotes"},
		{"Thought: t\nAction: `query`[" + sql + "]", query, "backquotes around the name"},
		{"Thought: t\nAction: **query**[" + sql + "]", query, "a bold name"},
		{"Thought: t Action: query[" + sql + "]", query, "one line"},
		{"Thought: t\r\nAction: query[" + sql + "]\r\n", query, "line ends of Windows"},
		{"Action：query[" + sql + "]", query, "a wide colon"},
		{"```\nThought: t\nAction: query[" + sql + "]\n```", query, "all in a fence"},
		{"query[" + sql + "]", query, "no word Action"},
		{"I look it up.\n\nquery[" + sql + "]", query, "prose and no word Action"},
		{"`query[" + sql + "]`", query, "no word Action, in backquotes"},
		{sql, open, "a bare statement"},
		{sql + ";", open, "a bare statement with its end"},
		{"```sql\n" + sql + "\n```", open, "a fence"},
		{"Here it is:\n```sql\n" + sql + "\n```\nDone.", open, "a fence in prose"},
		{"<think>Action: finish[x]</think>\nAction: query[" + sql + "]", query, "reasoning before"},
		{"Thought: a\nAction: describe[orders]\nObservation: x\nThought: b\nAction: query[" + sql + "]", query,
			"the last action wins"},
		{"Action: query[" + sql + "]\nObservation: [('Ada',)]\nThat answers it.", query, "text behind is dropped"},
		{"Action: query[" + sql + "\nObservation: [('Ada',)]", open, "no bracket at the end and an invented observation"},
		{"Action: query[" + sql + "] I hope [this] helps", query, "brackets behind"},
		{"Action: query[SELECT \"a]\" FROM [order details]]",
			action{name: "query", argument: "SELECT \"a]\" FROM [order details]"}, "brackets within"},
		{"Action: query[SELECT 'Action: finish[x]' AS a]", action{name: "query", argument: "SELECT 'Action: finish[x]' AS a"},
			"an action in a literal"},
		{"Action: query[SELECT it's FROM a]", action{name: "query", argument: "SELECT it's FROM a"}, "an odd quote"},
		{"Action: query[SELECT 1\nFROM a\n]", action{name: "query", argument: "SELECT 1\nFROM a"}, "several lines"},
		{"Action: query[]", action{name: "query"}, "nothing in it"},
		{"Action: finish[" + sql + "]", action{name: "finish", argument: sql}, "finish"},
		{"Action: Finish", action{name: "finish", open: true}, "finish alone"},
		{"Action: list_tables", action{name: "list_tables", open: true}, "a tool without argument"},
		{"Action: fly[to the moon]", action{name: "fly", argument: "to the moon"}, "an unknown tool"},
		{"Action: ", action{}, "no name"},
		{"Action: [" + sql + "]", action{}, "a bracket without a name"},
		{"I would select the names of the customers.", action{}, "prose"},
		{"Thought: only that", action{}, "a thought alone"},
		{"", action{}, "nothing"},
	} {
		got := r.read(tt.reply)
		got.thought = ""
		golden.Equal(t, tt.want, got, tt.why, cmp.AllowUnexported(action{}))
	}
}

// FuzzRead: no reply breaks the reader, and what it read is read again from what the conversation shows.
func FuzzRead(f *testing.F) {
	r := reader(f)
	for _, seed := range []string{
		"Thought: t\nAction: query[SELECT 1]", "Action: query\n```sql\nSELECT ']'\n```", "<think>", "Action: Action: [[",
		"query[" + strings.Repeat("[", 100),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		a := r.read(reply)
		if len([]rune(a.thought)) > maxThought+1 || strings.ContainsAny(a.thought, "\n\r") {
			t.Errorf("thought %q", a.thought)
		}
		if a.name != strings.ToLower(a.name) || a.name != "" && !actionName.MatchString(a.name) {
			t.Errorf("name %q", a.name)
		}
		if !strings.Contains(strings.ToLower(reply), a.name) && a.name != actionQuery {
			t.Errorf("the name %q is not in the reply", a.name)
		}
		if said := a.said(); a.name != "" && len(a.argument) < maxEcho {
			if again := r.read(said); again.name == "" {
				t.Errorf("%q is read, and %q is not", reply, said)
			}
		}
		if text := clean(reply); len([]rune(text)) > maxObservation+1 || protocolMark.MatchString(text) ||
			clean(text) != text && len([]rune(text)) < maxObservation {
			t.Errorf("clean: %q", text)
		}
	})
}
