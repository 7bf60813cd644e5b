package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/knowledge/dbt"
	"github.com/texttosql/texttosql/knowledge/ossie"
	"github.com/texttosql/texttosql/knowledge/snowflake"
	"github.com/texttosql/texttosql/knowledge/wren"
	"github.com/texttosql/texttosql/knowledge/yaml"
)

// readers are those of the formats, by the names of --format.
var readers = map[string]func(io.Reader) (knowledge.Model, error){
	"": knowledge.Read, "dbt": dbt.Read, "ossie": ossie.Read, "snowflake": snowflake.Read, "wren": wren.Read,
}

// ReadKnowledge reads a file of what people know of a database, YAML or JSON. format "" is told by the keys of the
// file.
func ReadKnowledge(path, format string) (knowledge.Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return knowledge.Model{}, &UsageError{err}
	}
	data := text
	if !json.Valid(text) {
		if data, err = yaml.JSON(bytes.NewReader(text)); err != nil {
			return knowledge.Model{}, &UsageError{fmt.Errorf("%s: %w", path, err)}
		}
	}
	if format == "" {
		format = formatOf(data)
	}
	m, err := readers[format](bytes.NewReader(data))
	if err != nil {
		return knowledge.Model{}, &UsageError{fmt.Errorf("%s: %w", path, err)}
	}
	return m, nil
}

// formatOf tells a format by the keys that only it has; "": the project's own.
func formatOf(data []byte) string {
	var file struct {
		Manifest json.RawMessage `json:"semantic_models"`
		Model    json.RawMessage `json:"semantic_model"`
		Ontology json.RawMessage `json:"ontology"`
		Models   json.RawMessage `json:"models"`
		Tables   []struct {
			Base json.RawMessage `json:"base_table"`
		} `json:"tables"`
	}
	_ = json.Unmarshal(data, &file) // the reader says what is wrong
	switch {
	case file.Manifest != nil:
		return "dbt"
	case file.Model != nil || file.Ontology != nil:
		return "ossie"
	case file.Models != nil:
		return "wren"
	case len(file.Tables) > 0 && file.Tables[0].Base != nil:
		return "snowflake"
	}
	return ""
}
