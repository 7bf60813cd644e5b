package doubt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
)

// TestReadingRecord records what is read in questions of each form: what asks, what is listed, what is grouped, and the
// words beside them that change it.
func TestReadingRecord(t *testing.T) {
	var b strings.Builder
	for _, group := range []struct {
		reason    string
		questions []string
	}{
		{"one number", []string{"How many singers do we have?", "how many singers are there in each country",
			"Count the cars", "What is the number of cars?",
			"What is the total number of cars per maker?",
			"What's the total of all orders?", "How much did customer 5 pay?", "What is the average age of the students?",
			"What percentage of women has a dog?",
			"Total sales", "What is the maximum and minimum price?",
			"How often did Ann order?", "How many different countries are there, and how many cities?",
			"Are there more dogs than cats?", "Is Ann older than Bo?"}},
		{"the first of an order", []string{"Who has the most pets?", "Which singer is the oldest?",
			"Show the top 5 products by sales",
			"the three cheapest rooms", "Which airport has the fewest flights?",
			"List the names of the 10 youngest students", "the latest order of each customer",
			"What are the two most expensive cars and their makers?",
			"Show the names sorted by age", "names in descending order of age",
			"Which month had the highest revenue in 2023?", "Rank the teams by points"}},
		{"groups", []string{"How many employees work in each office?",
			"For each continent, show its name and how many countries it has.",
			"revenue by region and month", "Average price per category",
			"Show the number of orders for every customer", "Sales grouped by year", "number of students by age and by sex",
			"What is the total by country, highest first?", "For every shop, what is its best product?"}},
		{"lists", []string{"Show name, country, age for all singers.", "What are the first and last names of all students?",
			"List the name of the professionals along with the description of the treatment.",
			"Which customers have never ordered?", "Show all information about dogs", "Give me everything about Ann",
			"List open orders and their totals for customers in Spain.", "Which suppliers deliver laptops with their prices?",
			"customers in Oslo", "Students who don't own a dog", "Name the customers' phone.",
			"Show product codes and names of products with credit limits above 500",
			"What are the names and ids of customers and their orders?",
			"Show the id, the name, as well as the town of each shop", "Return the code. Also show its name.",
			"Who are the customers who bought tea and coffee?",
			"What is the email of Ann? Show the phone, too.",
			"Show orders over 3.5 and their dates; give their totals", "Where does customer 42 live?",
			"When was the last order of Ann?", "Who is it?",
			"Find the pets whose owner is named Bo or Ann",
			"Tell me the name & age of the oldest singer", "orders (with totals) of \"Show me\" records",
			"What is 'the name' of it?",
			"Please list the cities, and the number of shops in each city."}},
		{"no question of a known language", []string{"", "?", "xyzzy plugh", "Wie viele Kunden gibt es?",
			"Zeige Name und Alter aller Kunden",
			"¿Cuántos clientes hay por país?", "Combien de clients avons-nous ?", "Quanti clienti ci sono?",
			"SELECT name FROM customers", "cust ord tot"}},
	} {
		fmt.Fprintf(&b, "== %s\n", group.reason)
		for _, question := range group.questions {
			q := Rules{}.Read(question, "")
			flags := ""
			for i, set := range []bool{q.HowMany, q.Count, q.Each, q.Sum, q.Everything, q.Open, q.Negation, q.Sorted} {
				if set {
					flags += " " + []string{"how-many", "count", "each", "sum", "everything", "open", "negation", "sorted"}[i]
				}
			}
			fmt.Fprintf(&b, "%s\n   %s %s, %d columns, things %q, phrases %q, theirs %q%s\n", question, q.Language, q.Asks,
				q.Columns, q.Things, q.Phrases, q.Theirs, flags)
		}
	}
	golden.Check(t, "readings.golden", b.String())
}
