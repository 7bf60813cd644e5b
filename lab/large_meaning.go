package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/lab/internal/files"
	"github.com/texttosql/texttosql/lab/pools"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// meaning is the flags of an embedder.
type meaning struct {
	Embedder string `placeholder:"URL" help:"Endpoint of a model of embeddings, as the OpenAI wire format has it; links with meaning beside words, too."`
	Model    string `placeholder:"NAME" default:"e5" help:"Its name; -query and -passage behind it ask E5 for questions and for tables."`
	Vectors  string `placeholder:"FILE" help:"Keeps the vectors, so that a second run is quick."`
}

// embedder is that of the flags, with the vectors of the questions made; nil: there is none.
func (m meaning) embedder(ctx context.Context, questions []largeQuestion) (memory.Embedder, error) {
	if m.Embedder == "" {
		return nil, nil
	}
	client := openai.Client{BaseURL: m.Embedder, Key: "none"}
	kept := func(kind string) *memory.Vectors {
		return &memory.Vectors{By: client.Embedder(m.Model + kind), Name: m.Model + kind, File: m.Vectors, Wait: time.Hour}
	}
	e := twoEmbedders{kept("-passage"), kept("-query")}
	var texts []string
	for _, q := range questions {
		texts = append(texts, q.Question)
	}
	_, err := e.questions.EmbedDocuments(ctx, texts)
	return &memory.Vectors{By: e, Wait: time.Hour}, err
}

// twoEmbedders embeds questions as documents of their own kind, so that they are kept.
type twoEmbedders struct{ tables, questions *memory.Vectors }

// EmbedDocuments embeds texts of tables.
func (e twoEmbedders) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return e.tables.EmbedDocuments(ctx, texts)
}

// EmbedQuery embeds a question.
func (e twoEmbedders) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.questions.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// askingQuestion is a question of Spider in other words or another language.
type askingQuestion struct {
	DB       string `json:"db_id"`
	Question string `json:"question"`
	Original string `json:"original"`
	Gold     string `json:"gold"`
	GoldEN   string `json:"gold_en"`
}

// asking are the questions of a folder of data-asking about its databases of Spider, all of them as one schema.
func (l *large) asking(p *program, name, file string) (*largeSet, error) {
	folder, err := pools.OpenFolder(l.Asking)
	if err != nil {
		return nil, err
	}
	asked, err := files.Lines[askingQuestion](filepath.Join(l.Asking, "questions", "questions_"+file+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	set, all, databases := &largeSet{schemas: map[string]*schema.Schema{}, merged: true}, &schema.Schema{}, databases{folder: folder}
	defer databases.close()
	for _, q := range asked {
		if set.schemas[q.DB] == nil {
			env, err := databases.env(p.ctx, q.DB)
			if err != nil { // wta_1 is not there
				continue
			}
			for _, t := range env.Schema.Tables {
				t.Schema = q.DB + "."
				all.Tables = append(all.Tables, t)
			}
			set.schemas[q.DB] = all
		}
		as := largeQuestion{DB: q.DB, Question: q.Question}
		if name == "spider" {
			as.Question = q.Original
		}
		for _, ref := range sqltext.SQLite().Parse(max(q.GoldEN, q.Gold)).Tables() {
			if ref.Base() {
				as.Tables = append(as.Tables, ref.Name)
			}
		}
		if as.Question != "" {
			set.questions = append(set.questions, as)
		}
	}
	if len(set.questions) == 0 {
		return nil, errors.New("no question has its database in " + l.Asking)
	}
	return set, nil
}

// isLarge reports whether a linker that explores has something to explore.
func (s *largeSet) isLarge() bool {
	for _, of := range s.schemas {
		if len(of.Tables) > 40 {
			return true
		}
	}
	return false
}

// searcher is a script in the place of a model that explores a schema: it knows the words of the question, and no other ones.
// What it finds says what the loop of linker.Explore makes of words; a model that knows synonyms would find more.
type searcher struct{ calls int }

const (
	wordsAtOnce  = 4
	mostSearches = 12
	keptOfFirst  = 5 // tables of the first search
	keptOfOther  = 2
)

// Complete answers by what the prompt shows.
func (s *searcher) Complete(_ context.Context, req llm.Request) (llm.Response, error) {
	s.calls++
	text := req.Messages[1].Text
	question, _, _ := strings.Cut(strings.TrimPrefix(text, "Question: "), "\n")
	list := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) })
	list = slices.Compact(list)
	list = list[:min(len(list), mostSearches)]
	groups := strings.Split(text, "\nFound for: ")[1:]
	if done := (len(groups) - 1) / wordsAtOnce * wordsAtOnce; done < len(list) && len(groups) == 1+done {
		return reply(map[string]any{"search": list[done:min(done+wordsAtOnce, len(list))]})
	}
	var keep []string
	for i, group := range groups { // the first search is that of the question
		most := keptOfOther
		if i == 0 {
			most = keptOfFirst
		}
		var found []string
		for _, line := range strings.Split(group, "\n") {
			if name, ok := strings.CutPrefix(line, "- "); ok && len(found) < most {
				end := slices.IndexFunc([]rune(name+";"), func(r rune) bool { return strings.ContainsRune(";: ", r) })
				found = append(found, string([]rune(name + ";")[:end]))
			}
		}
		keep = append(keep, found...)
	}
	return reply(map[string]any{"keep": keep, "done": true})
}

func reply(object any) (llm.Response, error) {
	text, err := json.Marshal(object)
	return llm.Response{Text: string(text)}, err
}
