package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/words"
)

// DescriptionFile is the content of a file of descriptions. In it, Text comes from a person and Described from a model.
type DescriptionFile struct {
	Descriptions Descriptions      // the descriptions by name; never nil after ReadDescriptions
	Failed       map[string]string // the reasons why a model gave no description, by name; these names have none

	// The head of the file, from the last model that wrote into it. All fields are empty if people wrote the file.
	Schema string // Schema.Fingerprint of the described schema; if it differs, the schema changed or is another one
	Model  string // name of the model
	Prompt int    // version of its prompt

	Tables map[string]string // tables that are described completely, with the Fingerprint of a Schema of only that table
	CSV    bool              // it was read from CSV
	Notes  []string          // one line for each fix, guess or omission while the file was read; never written
}

const (
	descriptionsVersion = 1
	maxDescriptionFile  = 64 << 20 // bytes; 1,000 tables of 100 columns take 30 MB
)

// aboutDescriptions is the head of a file, for the person who opens it.
const aboutDescriptions = "Edit any text: what you change or write counts as yours and is never replaced. " +
	"To have a column described anew, delete its entry."

// descriptionFile is a DescriptionFile in JSON. The keys of its maps are sorted.
type descriptionFile struct {
	About        string                      `json:"about,omitempty"`
	Version      int                         `json:"version"`
	Schema       string                      `json:"schema,omitempty"`
	Model        string                      `json:"model,omitempty"`
	Prompt       int                         `json:"prompt,omitempty"`
	Descriptions map[string]writtenDescribed `json:"descriptions"`
	Tables       map[string]string           `json:"tables,omitempty"`
}

// writtenDescribed is one entry. ByModel is a hash of Described, so that a text that was edited is known to be a
// person's.
type writtenDescribed struct {
	Description
	ByModel string `json:"by_model,omitempty"`
	Failed  string `json:"failed,omitempty"`
}

// markOf is the mark of a text that a model wrote.
func markOf(described string) string {
	sum := sha256.Sum256([]byte(described))
	return hex.EncodeToString(sum[:4])
}

// ReadDescriptions reads descriptions from JSON as [DescriptionFile.Write] writes it, or from CSV. Text that begins
// with "{" is JSON.
//
// In JSON a person may change, add and delete any entry. If the text of a "described" does not match its "by_model", or
// has no "by_model", a person wrote it: it is appended to the Text of the entry. JSON that is incomplete, is not valid,
// or has an unknown key is an error that names the place.
//
// CSV has the columns table, column, readable_name, description and values; a row without a column is about the table.
// CSV is never an error: Notes list what is missing, fixed or skipped. A byte order mark, CR LF line ends,
// Windows-1252, rows that are too short or too long, and stray quotes are accepted.
//
// ReadDescriptions reads at most 64 MiB.
func ReadDescriptions(r io.Reader) (DescriptionFile, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxDescriptionFile+1))
	if err != nil {
		return DescriptionFile{}, fmt.Errorf("schema: reading descriptions: %w", err)
	}
	if len(raw) > maxDescriptionFile {
		return DescriptionFile{},
			&fileerr.Descriptions{Problem: fmt.Sprintf("it is larger than %d bytes", maxDescriptionFile)}
	}
	if text, notes := words.DecodeText(raw); strings.HasPrefix(strings.TrimSpace(text), "{") {
		f, err := readDescriptionsJSON(text)
		f.Notes = append(notes, f.Notes...)
		return f, err
	}
	return readDescriptionsCSV(raw), nil
}

func readDescriptionsJSON(text string) (DescriptionFile, error) {
	var w descriptionFile
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields() // what is not read would be lost when the file is written again
	err := d.Decode(&w)
	at := d.InputOffset()
	switch {
	case w.Version > descriptionsVersion:
		return DescriptionFile{},
			&fileerr.Descriptions{Problem: fmt.Sprintf("it is of version %d, and this texttosql reads version %d", w.Version,
				descriptionsVersion)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return DescriptionFile{}, &fileerr.Descriptions{Problem: "the JSON ends in the middle"}
	case err != nil:
		var slip *json.SyntaxError
		if errors.As(err, &slip) {
			at = slip.Offset
		}
		return DescriptionFile{},
			&fileerr.Descriptions{Problem: fmt.Sprintf("line %d: %v", 1+strings.Count(text[:min(at, int64(len(text)))], "\n"),
				err)}
	case strings.TrimSpace(text[at:]) != "":
		return DescriptionFile{}, &fileerr.Descriptions{Problem: fmt.Sprintf("line %d: something stands behind the JSON",
			1+strings.Count(text[:at], "\n"))}
	case w.Descriptions == nil:
		return DescriptionFile{}, &fileerr.Descriptions{Problem: `it is JSON without "descriptions"`}
	}
	f := DescriptionFile{Descriptions: Descriptions{}, Failed: map[string]string{}, Schema: w.Schema, Model: w.Model,
		Prompt: w.Prompt, Tables: w.Tables}
	for name, e := range w.Descriptions {
		e.Text, e.Described = strings.TrimSpace(e.Text), strings.TrimSpace(e.Described)
		if e.Described != "" && e.ByModel != markOf(e.Described) {
			e.Text, e.Described = strings.TrimSpace(e.Text+"\n"+e.Described), ""
		}
		if e.Description != (Description{}) {
			f.Descriptions[name] = e.Description
		}
		if e.Failed != "" && e.Text == "" && e.Described == "" {
			f.Failed[name] = e.Failed
		}
	}
	return f, nil
}

func readDescriptionsCSV(raw []byte) DescriptionFile {
	f := DescriptionFile{Descriptions: Descriptions{}, Failed: map[string]string{}, CSV: true}
	if len(bytes.TrimSpace(raw)) == 0 {
		f.CSV = false
		f.Notes = []string{"the file is empty"}
		return f
	}
	file := words.ReadCSV(raw)
	f.Notes = file.Notes
	for _, column := range []string{"table", "column", "readable_name", "description", "values"} {
		if !file.Has(words.Squeeze(column)) {
			f.Notes = append(f.Notes, "the first line names no column "+column)
		}
	}
	for _, row := range file.Rows {
		name := row.Get("table")
		if column := row.Get("column"); column != "" && name != "" {
			name += "." + column
		}
		d := Description{Title: row.Get("readablename"), Text: row.Get("description"), Values: row.Get("values")}
		switch _, twice := f.Descriptions[name]; {
		case name == "":
			f.Notes = append(f.Notes, fmt.Sprintf("line %d names no table", row.Line))
		case d == Description{}:
		case twice:
			f.Notes = append(f.Notes, fmt.Sprintf("line %d describes something again, and the last line counts", row.Line))
			fallthrough
		default:
			f.Descriptions[name] = d
		}
	}
	return f
}

// Write writes f as JSON: indented, entries sorted by name, so that equal files have equal bytes. It does not write
// Notes, and ignores CSV.
//
// Described is written with a checksum, so that ReadDescriptions detects edits by people. Write removes white space
// around it.
func (f DescriptionFile) Write(w io.Writer) error {
	out := descriptionFile{
		About: aboutDescriptions, Version: descriptionsVersion, Schema: f.Schema, Model: f.Model, Prompt: f.Prompt,
		Descriptions: make(map[string]writtenDescribed, len(f.Descriptions)+len(f.Failed)), Tables: f.Tables,
	}
	for name, reason := range f.Failed {
		out.Descriptions[name] = writtenDescribed{Failed: reason}
	}
	for name, d := range f.Descriptions {
		e := writtenDescribed{Description: d}
		if e.Described = strings.TrimSpace(d.Described); e.Described != "" {
			e.ByModel = markOf(e.Described)
		}
		if e.Text == "" && e.Described == "" {
			e.Failed = f.Failed[name]
		}
		out.Descriptions[name] = e
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("schema: writing descriptions: %w", err)
	}
	return nil
}
