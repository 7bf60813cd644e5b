module github.com/texttosql/texttosql/llm/openai

go 1.26.0

require github.com/texttosql/texttosql v0.1.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
