package words

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const (
	mostJSON   = 1 << 20 // bytes of a text that are looked at
	mostSearch = 4 << 20 // bytes that are read in search of values, those read again included
)

// Objects is Values for objects alone.
func Objects(text string) (objects []string, cut bool) { return Values(text, "{") }

// Values returns the JSON objects and lists that stand in a text, one after the other, whatever stands around them:
// those that begin with one of the brackets in open. Commas before a closing bracket, which models write, are left out.
// cut reports whether the text ends within one; what is whole inside of that one is not returned. It reads the first
// megabyte, and gives up in a text with so many brackets that begin nothing that it would have read four.
func Values(text, open string) (values []string, cut bool) {
	if len(text) > mostJSON {
		text = text[:mostJSON]
	}
	for left := mostSearch; left > 0; {
		at := strings.IndexAny(text, open)
		if at < 0 {
			break
		}
		text = text[at:]
		length, closed := bracketed(text)
		left -= length
		switch value := mended(text[:length]); {
		case closed && json.Valid([]byte(value)):
			values = append(values, value)
			text = text[length:]
		case !closed && begun(value):
			return values, true
		default:
			text = text[1:]
		}
	}
	return values, false
}

// begun reports whether a text is the beginning of an object or a list, a first quotation mark included.
func begun(text string) bool {
	if inner := strings.TrimSpace(text[1:]); inner == "" || inner[0] != '"' {
		return false
	}
	var all json.RawMessage
	return errors.Is(json.NewDecoder(strings.NewReader(text)).Decode(&all), io.ErrUnexpectedEOF)
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
