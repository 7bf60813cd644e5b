package langchain

import (
	"testing"
)

func TestSplitStatus(t *testing.T) {
	tests := []struct {
		text    string
		status  int
		message string
		why     string
	}{
		{"API returned unexpected status code: 429: slow down", 429, "slow down", "OpenAI"},
		{"API returned unexpected status code: 503", 503, "", "OpenAI, no JSON"},
		{"anthropic: failed to create message: API returned unexpected status code: 529: Overloaded", 529, "Overloaded",
			"Anthropic"},
		{"unexpected status code: 503, body: busy", 503, "busy", "Hugging Face"},
		{"503 Service Unavailable", 503, "", "Ollama"},
		{"503 rows are wrong", 0, "", "not what the status is called"},
		{"200 OK", 0, "", "no failure"},
		{"429", 0, "", "just a number"},
		{"the API returned unexpected status code: 429", 0, "", "not at the beginning"},
		{"API returned unexpected status code: 4290", 0, "", "no status"},
		{"", 0, "", "empty"},
	}
	for _, test := range tests {
		status, message := splitStatus(test.text)
		if status != test.status || message != test.message {
			t.Errorf("%s: splitStatus(%q) = %d, %q", test.why, test.text, status, message)
		}
	}
}

func TestEdited(t *testing.T) {
	tests := []struct {
		why, body, want string
		topP            float64
		sent            bool
	}{
		{"OpenAI, Anthropic", `{"model":"m","temperature":0.5}`, `{"model":"m"}`, 0, false},
		{"Ollama", `{"options":{"temperature":0.5,"seed":1}}`, `{"options":{"seed":1}}`, 0, false},
		{"the word in a message stays", `{"messages":["temperature"]}`, `{"messages":["temperature"]}`, 0, false},
		{"no object", `[1]`, `[1]`, 0, false},
		{"null", `null`, `null`, 0.9, false},
		{"no JSON", `x=1`, `x=1`, 0.9, false},
		{"empty", ``, ``, 0.9, false},
		{"OpenAI's client drops top_p", `{"messages":[],"temperature":1}`, `{"top_p":0.9,"messages":[]}`, 0.9, true},
		{"Anthropic's has it", `{"messages":[],"top_p":0.5}`, `{"messages":[],"top_p":0.5}`, 0.9, true},
		{"Ollama's has it", `{"options":{"top_p":0.5},"messages":[]}`, `{"messages":[],"options":{"top_p":0.5}}`, 0.9, true},
		{"Google's has it", `{"generationConfig":{"topP":0.5}}`, `{"generationConfig":{"topP":0.5}}`, 0.9, true},
		{"another format", `{"inputs":"x"}`, `{"inputs":"x"}`, 0.9, false},
		{"options without it", `{"messages":[],"options":{}}`, `{"messages":[],"options":{}}`, 0.9, false},
	}
	for _, test := range tests {
		n := &notes{dropTemperature: true, topP: test.topP}
		if body := n.edited([]byte(test.body)); n.sentTopP.Load() != test.sent || string(body) != test.want {
			t.Errorf("%s: got %s", test.why, body)
		}
	}
}
