package replies

import (
	"slices"
	"strings"
)

// This file has the steps of the ladder that take a statement out of what is around it.

// fences is step 5. It reports whether the text is used up.
func (e *extraction) fences(text string, depth int) bool {
	blocks := fencedBlocks(text)
	if len(blocks) == 0 {
		return false
	}
	last := blocks[len(blocks)-1]
	e.openFence = !last.closed && !e.x.Ended && !strings.HasSuffix(trimReply(last.body), ";")
	if e.openFence && last.language && e.d.IsStub(last.body) {
		e.truncated = true // in the answer: an earlier block was a draft
		return true
	}
	pick := e.pick(text, blocks)
	if pick < 0 { // tables, outputs
		e.prose(between(text, blocks), "prose")
		return true
	}
	chosen := e.d.Parse(blocks[pick].body)
	for _, b := range blocks[:pick] {
		if e.d.Head(b.body) == "query" && e.d.Parse(b.body).Normalize() != chosen.Normalize() {
			e.note("other-blocks")
		}
	}
	e.openFence = e.openFence && pick == len(blocks)-1
	e.closed = e.x.Ended || blocks[pick].closed
	if !blocks[pick].closed {
		e.note("unclosed-fence")
	}
	e.ladder(blocks[pick].body, "fence", depth+1)
	return true
}

// pick returns the block that counts: the last one that starts with a query or JSON, or one before it for which it is
// an alternative; else the last one with a query in it; -1 for none.
func (e *extraction) pick(text string, blocks []block) int {
	pick := -1
	for i, b := range slices.Backward(blocks) {
		body := trimReply(b.body)
		if e.d.Head(unprompted(body)) != "query" && !isJSON(body) {
			continue
		}
		if pick >= 0 {
			if !isAlternative(text[b.end:blocks[pick].start]) {
				break
			}
			e.note("other-blocks")
		}
		pick = i
	}
	for i := len(blocks) - 1; i >= 0 && pick < 0; i-- {
		if len(places(e.d, blocks[i].body)) > 0 || e.d.Head(blocks[i].body) == "other" {
			pick = i
		}
	}
	return pick
}

// between is the text around blocks.
func between(text string, blocks []block) string {
	var outside strings.Builder
	at := 0
	for _, b := range blocks {
		outside.WriteString(text[at:b.start] + "\n\n")
		at = b.end
	}
	return outside.String() + text[at:]
}

// quotes is step 6: it strips one pair around a query.
func (e *extraction) quotes(text string) (string, bool) {
	inner, ok := jsonText(text)
	if last := len(text) - 1; !ok && last > 0 && text[0] == text[last] && strings.IndexByte("\"'`", text[0]) >= 0 {
		inner = strings.TrimPrefix(strings.TrimSuffix(text[1:last], "`"), "`")
	}
	return inner, e.d.Head(inner) == "query" || ok && isJSON(inner)
}

// prose is the rest of step 6.
func (e *extraction) prose(text, step string) {
	places := places(e.d, text)
	for k, at := range places {
		from := text[at:]
		if at > 0 && text[at-1] == '`' { // code in a line
			if n := strings.IndexByte(from, '\n'); n >= 0 {
				from = from[:n]
			}
			if n := strings.LastIndexByte(from, '`'); n >= 0 {
				from = from[:n]
			}
		}
		if bold := strings.Index(from, "**"); strings.HasSuffix(text[:at], "**") && bold >= 0 {
			from = from[:bold]
		}
		word := leadingWord(from)
		v := e.statement(from, step, word == strings.ToUpper(word))
		if e.fatal != nil || v == plausible {
			return
		}
		if v == accepted {
			// A different query before it: nothing tells which one is meant.
			for _, before := range places[:k] {
				if e.differs(text[before:at]) {
					e.found = nil
					e.several()
					return
				}
			}
			return
		}
	}
}

// differs reports whether text, which starts at a place and ends before the one
// of the accepted statement, holds a whole query of its own.
func (e *extraction) differs(text string) bool {
	if line := strings.LastIndexByte(text, '\n'); line >= 0 { // the mark of a list
		text = text[:line]
	}
	paragraph, _, _ := strings.Cut(strings.ReplaceAll(text, "\r", ""), "\n\n")
	for _, part := range []string{text, paragraph} {
		if r := e.check(part); e.isWhole(part) && e.valid(r) && r.Normalize() != e.found.Normalize() {
			return true
		}
	}
	return false
}
