package words

import (
	"encoding/json"
	"strings"
)

const (
	mostJSON   = 1 << 20 // bytes of a text that are looked at
	mostSearch = 4 << 20 // bytes that are read in search of objects, those read again included
)

// Objects returns the JSON objects that stand in a text, one after the other, whatever stands around them. Commas before
// a closing bracket, which models write, are left out. It reads the first megabyte, and gives up in a text with so many
// braces that begin no object that it would have read four.
func Objects(text string) (objects []string) {
	if len(text) > mostJSON {
		text = text[:mostJSON]
	}
	for left := mostSearch; left > 0; {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			break
		}
		text = text[at:]
		length, closed := bracketed(text)
		left -= length
		if closed {
			if object := mended(text[:length]); json.Valid([]byte(object)) {
				objects = append(objects, object)
				text = text[length:]
				continue
			}
		}
		text = text[1:]
	}
	return objects
}

// bracketed returns how far the brackets reach that a text begins with, and whether they close before its end.
func bracketed(text string) (length int, closed bool) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}

// stringEnd returns where the string ends that begins at i.
func stringEnd(text string, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// mended returns an object without the commas before its closing brackets.
func mended(object string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(object); i++ {
		switch object[i] {
		case '"':
			i = stringEnd(object, i)
		case ',':
			if rest := strings.TrimLeft(object[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				b.WriteString(object[from:i])
				from = i + 1
			}
		}
	}
	if from == 0 {
		return object
	}
	return b.String() + object[from:]
}
