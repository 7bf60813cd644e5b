module github.com/texttosql/texttosql/llm/openai

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/openai/openai-go/v3 v3.96.0
	github.com/texttosql/texttosql v0.1.0
)

require (
	github.com/coder/websocket v1.8.15 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
