package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// unstreamed puts the events of a stream that nobody asked for together: the reply in the form of OpenAI, Anthropic or
// Google that they are parts of, or the error among them. A stream that ends before its reply is an error. Other text
// stays as it is.
func unstreamed(body []byte) ([]byte, error) {
	s := stream{whole: map[string]any{}}
	text := strings.ReplaceAll(strings.TrimPrefix(string(body), "\uFEFF"), "\r\n", "\n")
	for event := range strings.SplitSeq(text, "\n\n") {
		name, data := "", []string(nil)
		for line := range strings.Lines(event) {
			field, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
			switch value = strings.TrimPrefix(value, " "); field {
			case "event":
				name = value
			case "data":
				data = append(data, value)
			}
		}
		if s.add(name, strings.Join(data, "\n")); s.failed != nil {
			return json.Marshal(s.failed)
		}
	}
	switch {
	case !s.known && !s.ended:
		return body, nil
	case !s.ended:
		return nil, io.ErrUnexpectedEOF
	}
	return json.Marshal(s.whole)
}

// stream is a reply that comes in parts.
type stream struct {
	whole  map[string]any // the reply so far
	known  bool           // an event was part of a reply
	ended  bool           // the server said that the reply is whole, or why not
	failed map[string]any // the error that a server sent in an event
}

// add adds the data of one event.
func (s *stream) add(name, data string) {
	var part map[string]any
	switch {
	case data == "[DONE]":
		s.ended = true
		return
	case json.Unmarshal([]byte(data), &part) != nil && name == "error":
		s.failed = map[string]any{"error": data}
		return
	case part == nil:
		return // a comment, or cut
	case part["error"] != nil:
		s.failed = part
		return
	case name == "error":
		s.failed = map[string]any{"error": part}
		return
	}
	for _, key := range []string{"model", "modelVersion", "usage", "usageMetadata", "promptFeedback"} {
		s.keep(s.whole, part, key)
	}
	if choice := first(part["choices"]); choice != nil {
		s.openAI(choice)
	}
	if candidate := first(part["candidates"]); candidate != nil {
		s.google(candidate)
	}
	s.anthropic(part)
}

func (s *stream) openAI(choice map[string]any) {
	s.known = true
	whole := s.one("choices")
	message, _ := whole["message"].(map[string]any)
	if message == nil {
		message = map[string]any{}
		whole["message"] = message
	}
	if delta, ok := choice["delta"].(map[string]any); ok {
		merge(message, delta)
	} else if sent, ok := choice["message"].(map[string]any); ok {
		whole["message"] = sent
	}
	s.keep(whole, choice, "error")
	s.ended = s.keep(whole, choice, "finish_reason") || s.ended
}

func (s *stream) google(candidate map[string]any) {
	s.known = true
	whole := s.one("candidates")
	content, _ := whole["content"].(map[string]any)
	if content == nil {
		content = map[string]any{}
		whole["content"] = content
	}
	if delta, ok := candidate["content"].(map[string]any); ok {
		merge(content, delta)
	}
	s.ended = s.keep(whole, candidate, "finishReason") || s.ended
}

func (s *stream) anthropic(part map[string]any) {
	delta, _ := part["delta"].(map[string]any)
	blocks, _ := s.whole["content"].([]any)
	switch part["type"] {
	case "message_start":
		s.known = true
		if message, ok := part["message"].(map[string]any); ok {
			merge(s.whole, message)
		}
	case "content_block_start":
		s.whole["content"] = append(blocks, part["content_block"])
	case "content_block_delta":
		if len(blocks) > 0 {
			if block, ok := blocks[len(blocks)-1].(map[string]any); ok {
				delete(delta, "type")
				merge(block, delta)
			}
		}
	case "message_delta":
		s.ended = s.keep(s.whole, delta, "stop_reason") || s.ended
	case "message_stop":
		s.ended = true
	}
}

// keep takes over what part has under key, the numbers of a usage one by one. It reports whether there is something.
func (s *stream) keep(whole, part map[string]any, key string) bool {
	was, _ := whole[key].(map[string]any)
	switch value := part[key].(type) {
	case nil:
		return false
	case map[string]any:
		if was != nil {
			merge(was, value)
			return true
		}
	}
	whole[key] = part[key]
	return true
}

// one returns the one element of a list of the reply.
func (s *stream) one(key string) map[string]any {
	if s.whole[key] == nil {
		s.whole[key] = []any{map[string]any{}}
	}
	return first(s.whole[key])
}

// first returns the first element of a list: the request asked for one reply.
func first(list any) map[string]any {
	elements, _ := list.([]any)
	for _, e := range elements {
		if element, ok := e.(map[string]any); ok && cmp.Or(element["index"], any(0.0)) == 0.0 {
			return element
		}
	}
	return nil
}

// merge adds the fields of delta: texts and lists at the end of what is there, but for names, which servers repeat.
func merge(into, delta map[string]any) {
	for name, value := range delta {
		switch value := value.(type) {
		case nil:
		case string:
			was, _ := into[name].(string)
			if slices.Contains([]string{"role", "type", "id", "name", "model", "object"}, name) {
				was = ""
			}
			into[name] = was + value
		case []any:
			was, _ := into[name].([]any)
			into[name] = append(was, value...)
		default:
			into[name] = value
		}
	}
}

// isStream reports whether a reply begins as a stream of events does.
func isStream(head []byte) bool {
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":", "\uFEFF"} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}
