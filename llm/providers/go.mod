module github.com/texttosql/texttosql/llm/providers

go 1.26.0

require (
	github.com/texttosql/texttosql v0.1.0
	github.com/texttosql/texttosql/llm/anthropic v0.1.0
	github.com/texttosql/texttosql/llm/openai v0.1.0
)

require golang.org/x/sync v0.24.0 // indirect
