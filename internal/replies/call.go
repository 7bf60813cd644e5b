package replies

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// This file has the steps of the ladder for answers in JSON, as calls of tools that are written out as text have them.

// maxDeep bounds how deep a JSON value is searched.
const maxDeep = 8

func isJSON(text string) bool { return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{") }

// json is step 4. It reports whether the text is used up.
func (e *extraction) json(text string, depth int) bool {
	if !isJSON(text) {
		return false
	}
	values, cut := decoded(text)
	if text[0] == '{' && len(values) > 0 {
		values, cut = values[:1], false // what follows the object is prose
	}
	if cut || len(values) == 0 {
		e.brokenJSON(text, cut, depth)
		return true
	}
	e.oneOf(textsIn(e.d, values), "json", depth)
	return true
}

// decoded returns the JSON objects and lists in a text, and whether it ends within one.
func decoded(text string) (values []any, cut bool) {
	found, cut := words.Values(text, "{[")
	for _, value := range found {
		var v any
		if json.Unmarshal([]byte(value), &v) == nil {
			values = append(values, v)
		}
	}
	return values, cut
}

func (e *extraction) brokenJSON(text string, cut bool, depth int) {
	if cut && !e.x.Ended {
		e.fatal = &Error{Reason: ReasonTruncated, Detail: "the JSON stops in the middle"}
		return
	}
	if texts := literals(e.d, text); len(texts) > 0 {
		e.oneOf(texts, "json", depth)
		return
	}
	e.fatal = &Error{Reason: ReasonBrokenJSON, Detail: "the reply starts like a JSON object and is none"}
}

// textsIn returns what may be the statement of JSON values: their fields "sql" (case aside) that stand least deep;
// where they have none, the texts that start with a query. A text that holds JSON counts as that, as arguments of calls
// do.
func textsIn(d sqltext.Dialect, level []any) []string {
	var queries []string
	for n := 0; len(level) > 0 && n < maxDeep; n++ {
		var next []any
		var named []string
		found := false
		for _, v := range level {
			switch v := v.(type) {
			case []any:
				next = append(next, v...)
			case map[string]any:
				for _, key := range slices.Sorted(maps.Keys(v)) {
					switch field := joinedLines(d, v[key]).(type) {
					case map[string]any, []any:
						next = append(next, field)
					default:
						if !strings.EqualFold(key, "sql") {
							next = append(next, field)
							break
						}
						found = true // null and "" are an answer: there is no statement
						if text, _ := field.(string); strings.TrimSpace(text) != "" {
							named = append(named, text)
						}
					}
				}
			case string:
				if text := strings.TrimSpace(v); isJSON(text) {
					inner, _ := decoded(text)
					next = append(next, inner...)
				} else if d.Head(text) == "query" {
					queries = append(queries, text)
				}
			}
		}
		if found {
			return named
		}
		level = next
	}
	return queries
}

// joinedLines is the statement of a list that holds its lines, or else the value.
func joinedLines(d sqltext.Dialect, value any) any {
	list, _ := value.([]any)
	var lines []string
	for i, v := range list {
		line, ok := v.(string)
		if !ok || (d.Head(line) == "query") != (i == 0) {
			return value
		}
		lines = append(lines, line)
	}
	if len(lines) < 2 {
		return value
	}
	return strings.Join(lines, "\n")
}

// oneOf goes on with the only query among texts.
func (e *extraction) oneOf(texts []string, step string, depth int) {
	if len(texts) == 0 {
		return
	}
	one := texts[0]
	for _, text := range texts[1:] {
		switch {
		case !e.isWhole(text): // a question that starts with Select
		case !e.isWhole(one):
			one = text
		case e.check(text).Normalize() != e.check(one).Normalize():
			e.several()
			return
		}
	}
	e.closed = true
	e.ladder(one, step, depth+1)
}

// embedded is step 7.
func (e *extraction) embedded(text string) {
	switch values, cut := decoded(text); {
	case cut && e.isEmpty():
		e.brokenJSON(text, cut, 0)
	case len(values) > 0 && e.isEmpty():
		e.oneOf(textsIn(e.d, values), "json", 0)
	case len(values) == 0 && !cut:
		inProse := func(inner string) bool {
			return leadingWord(inner) != strings.ToUpper(leadingWord(inner)) || !e.isWhole(inner)
		}
		e.oneOf(slices.DeleteFunc(literals(e.d, text), inProse), "quotes", 0)
	}
}

// isWhole reports whether a text is a statement by its shape.
func (e *extraction) isWhole(text string) bool {
	r := e.check(text)
	return r.refused == nil && r.IsPlausible()
}
