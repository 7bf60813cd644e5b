package pgstore_test

import (
	"context"
	"fmt"
	"os"

	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/pgstore"
)

func tables(name string) *schema.Schema {
	return &schema.Schema{Tables: []schema.Table{{Name: name, Columns: []schema.Column{{Name: "id"}, {Name: "name"}}}}}
}

func names(s *schema.Schema) (all []schema.TableName) {
	for _, t := range s.Tables {
		all = append(all, schema.TableName{Schema: t.Schema, Name: t.Name})
	}
	return all
}

// Any number of processes keep conversations, lessons and verified answers in one place.
func Example() {
	dsn := os.Getenv("SESSIONS_DSN")
	if dsn == "" {
		fmt.Println("no server")
		return
	}
	ctx := context.Background()
	store, err := pgstore.Open(ctx, dsn, pgstore.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	// engine.NewConversation(store) begins one, engine.OpenConversation goes on
	last, err := store.List(ctx, session.Filter{})
	fmt.Println(len(last), err)
	lessons, err := memory.LessonsOn(store.Lessons("shop")) // for texttosql.WithMemory
	fmt.Println(lessons, err)
	verified, err := memory.VerifiedAnswersOn(store.VerifiedAnswers("shop")) // for texttosql.WithMemory too
	fmt.Println(verified, err)
	// Output: no server
}
