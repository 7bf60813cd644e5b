package doubt

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
)

func TestLanguage(t *testing.T) {
	tests := []struct {
		question string
		want     string
	}{
		{"How many singers do we have?", "en"},
		{"List the name of all products.", "en"},
		{"Average MSRP by product line.", "en"},
		{"Show me films with \"El hombre que sabía demasiado\" in the title", "en"},
		{"Which countries' names start with 'Les'?", "en"},
		{"", ""},
		{"?!", ""},
		{"42", ""},
		{"Wie viele Kunden gibt es in jedem Land?", ""},
		{"Welche Kunden haben nie bestellt?", ""},
		{"Zeige die Namen aller Produkte", ""},
		{"Wie oft wurde The Lord of the Rings ausgeliehen?", ""},
		{"Wie viele Filme heißen \"The Lord of the Rings\"?", ""},
		{"Combien de clients y a-t-il dans chaque pays ?", ""},
		{"Quels sont les produits les plus chers ?", ""},
		{"¿Cuántos clientes hay en España?", ""},
		{"Lista los nombres de los empleados", ""},
		{"Quanti clienti ci sono per paese?", ""},
		{"Quais são os produtos mais caros?", ""},
		{"Hoeveel klanten zijn er in elk land?", ""},
		{"Hur många kunder finns det i varje land?", ""},
		{"Hvor mange kunder er der?", ""},
		{"Ilu klientów jest w Polsce?", ""},
		{"Her ülkede kaç müşteri var?", ""},
		{"Berapa banyak pelanggan yang ada?", ""},
		{"Сколько клиентов в каждой стране?", ""},
		{"每个国家有多少客户？", ""},
		{"顧客は何人いますか", ""},
		{"كم عدد العملاء؟", ""},
		{"प्रत्येक देश में कितने ग्राहक हैं?", ""},
	}
	for _, tt := range tests {
		if got := (Rules{}).Read(tt.question, "").Language; got != tt.want {
			t.Errorf("%q is read as %q, want %q", tt.question, got, tt.want)
		}
	}
}

func TestOwnLanguage(t *testing.T) {
	german := Language{
		Name: "de", Common: []string{"wie", "viele", "gibt", "es", "jedem"},
		HowMany: []string{"wie viele"}, Each: []string{"jede*"}, Numbers: []string{"zwei"},
	}
	d := Rules{Languages: []Language{german, English()}}
	q := d.Read("Wie viele Kunden gibt es?", "")
	if q.Language != "de" || !q.HowMany || q.Each {
		t.Errorf("read as %+v", q)
	}
	if q := d.Read("Wie viele gibt es in jedem Land?", ""); !q.Each {
		t.Error("a beginning of a word does not match")
	}
	if q := d.Read("How many customers are there?", ""); q.Language != "en" {
		t.Errorf("read as %q", q.Language)
	}
}

func TestQuestionWords(t *testing.T) {
	type facts struct {
		HowMany, Count, Each, Sum, Everything, Open, Negation bool
	}
	tests := []struct {
		question string
		evidence string
		want     facts
	}{
		{"How many singers do we have?", "", facts{HowMany: true, Count: true}},
		{"What is the total number of cars?", "", facts{HowMany: true, Count: true}},
		{"Count the cars.", "", facts{HowMany: true, Count: true}},
		{"How many singers are from each country?", "", facts{HowMany: true, Count: true, Each: true}},
		{"Who has the most pets?", "", facts{Open: true}},
		{"Students with at least two pets are who?", "", facts{}},
		{"What is the percentage of women?", "", facts{Count: true}},
		{"What is the total sales of the shop?", "", facts{Sum: true}},
		{"How much does the youngest dog weigh?", "", facts{}},
		{"How much did customer 5 pay?", "", facts{Sum: true}},
		{"Show all information about dogs.", "", facts{Everything: true}},
		{"Students who don't own a dog", "", facts{Negation: true}},
		{"Students who don’t own a dog", "", facts{Negation: true}},
		{"Which heroes have missing weight?", "", facts{Negation: true}},
		{"Which of the heroes are bald?", "bald refers to hair_id != 3", facts{Negation: true}},
		{"Which of the heroes are bald?", "bald refers to hair IS NULL", facts{Negation: true}},
		{"Which of the heroes are bald?", "bald refers to hair_id ≠ 3", facts{Negation: true}},
		{"Which of the heroes are bald?", "bald means without hair", facts{Negation: true}},
		{"Which of the heroes are nothing special?", "", facts{}},
		{"What are the totals by country?", "", facts{Each: true}},
	}
	for _, tt := range tests {
		q := Rules{}.Read(tt.question, tt.evidence)
		got := facts{q.HowMany, q.Count, q.Each, q.Sum, q.Everything, q.Open, q.Negation}
		golden.Equal(t, tt.want, got, tt.question)
	}
}

func TestQuestionColumns(t *testing.T) {
	tests := []struct {
		question string
		want     int
	}{
		{"How many singers do we have?", 1},
		{"Show name, country, age for all singers.", 3},
		{"What are the name, country and age of the singers?", 3},
		{"List the name and the age of all students", 2},
		{"What is the name & age of the oldest singer?", 2},
		{"Give the code of the airport with the least flights.", 1},
		{"What are the first and last names of all students?", 2},
		{"Return the version number, along with its template type code.", 2},
		{"List the name of the professionals along with the description of the treatment.", 2},
		{"What is the name of each car maker and its country?", 2},
		{"How many employees work in each office?", 2},
		{"For each continent, show its name and how many countries it has.", 2},
		{"Show all countries and the number of singers in each country.", 2},
		{"What is the average age for each pet type?", 2},
		{"What type of pet is the youngest animal, and how much does it weigh?", 2},
		{"Show the top 5 products by sales amount.", 2},
		{"Show the revenue by region and month.", 3},
		{"Show the name and size ordered by size.", 2},
		{"How many times at most? Also show the id.", 2},
		{"Show the name along with its age", 2},
		{"Show the name along with its age along with its size", 3},
		{"Show the name along with its age along with its size along with its color", 3}, // two at most
		{"Show the name, the age and the size of pets over 3.5 and show the color", 4},
		{"Show the name and the age of the pets. Show the size of the shops.", 1}, // of the last sentence that asks
		{"Show the name and the age of the pets; give their size in 3 steps", 2},
		{"There are shops. Show the name and size of the shops. They open at 9.5 a.m.", 2},
		{"For each stadium, what is the name and the capacity?", 2},
		{"List a, b, c, d, e, f, g and h", 6},
		{"How many are there?", 1},
		{"Customers and their orders are what we look at", 1},
		{"Customers with more than two orders by country.", 0}, // nothing asks
		{"", 0},
	}
	for _, tt := range tests {
		if got := (Rules{}).Read(tt.question, "").Columns; got != tt.want {
			t.Errorf("%q names %d columns, want %d", tt.question, got, tt.want)
		}
	}
}

func TestThings(t *testing.T) {
	for question, want := range map[string][]string{
		"List open orders and their totals for customers in Spain.": {"order", "total"},
		"Which suppliers deliver laptops?":                          {"supplier"},
		"Show supplier 12 GmbH's products":                          {"product"},
		"Name the customers' phone.":                                {"phone"},
		"How many orders are there?":                                nil,
		"Customers who have orders":                                 nil,
	} {
		golden.Equal(t, want, Rules{}.Read(question, "").Things, question)
	}
}

func TestMatchAt(t *testing.T) {
	l := Language{Numbers: []string{"two"}}
	tests := []struct {
		words  string
		phrase string
		n      int
		why    string
	}{
		{"how many dogs", "how many", 2, "two words"},
		{"how", "how many", 0, "one of two"},
		{"for each", "for/in each/every", 2, "either"},
		{"top two", "top #", 2, "a number word"},
		{"top 10", "top #", 2, "a number"},
		{"top 10a", "top #", 0, "no number"},
		{"percentage", "percent*", 1, "a beginning"},
		{"don't", "*n't", 1, "an end"},
		{"n't", "*n't", 1, "an end that is the whole word"},
		{"past", "*est", 0, "another end"},
		{"which city is", "which * is/was", 3, "any word"},
		{"different a b how many", "different ... how many", 5, "words between"},
		{"different how many", "different ... how many", 3, "no words between"},
		{"different how", "different ... how many", 0, "the end is missing"},
		{"different a", "different ...", 1, "any number of words at the end may be none"},
		{"a b c", "... ... c", 3, "any number of words twice is as once"},
		{"a", "", 0, "nothing stands nowhere"},
		{"a", " ", 0, "nor does a blank"},
		{"a", "...", 0, "nor do any words"},
		{"a", "/", 0, "nor does a stroke"},
		{"", "a", 0, "no words"},
		{"how many", " how   many ", 2, "blanks do not count"},
		{"many", "/many", 1, "an empty form in front"},
		{"many", "a//many/", 1, "and between, and behind"},
		{"one", "a//many/", 0, "an empty form is no word"},
		{"five words are a phrase too", "five words are a phrase too", 6, "of any length"},
		{"how, many", "how many", 0, "a mark lies between"},
		{"how, many", "how *", 0, "a mark is no word"},
		{"a b, c", "a ... c", 0, "words do not reach across a mark"},
	}
	for _, tt := range tests {
		n, ok := l.match(tokenize(tt.words), tt.phrase)
		if ok != (tt.n > 0) || ok && n != tt.n {
			t.Errorf("%q in %q: %d, %v, want %d: %s", tt.phrase, tt.words, n, ok, tt.n, tt.why)
		}
	}
}

func TestHas(t *testing.T) {
	q := Rules{}.Read("What are the two cheapest books?", "")
	for phrase, want := range map[string]bool{
		"# cheap*": true, "cheapest books": true, "books cheapest": false, "": false, "/books": true, "two  cheapest": true,
	} {
		if got := q.Has(phrase); got != want {
			t.Errorf("Has(%q) = %v, want %v", phrase, got, want)
		}
	}
}

// TestHasUnread: words of a question in a language that nobody knows are found all the same.
func TestHasUnread(t *testing.T) {
	q := Rules{}.Read("Wie viele Kunden gibt es?", "")
	if q.Language != "" || !q.Has("kunden") || q.Has("customers") || q.Has("# kunden") ||
		(QuestionFeatures{}).Has("kunden") {
		t.Errorf("%+v", q)
	}
}

func TestUnlimited(t *testing.T) {
	for question, want := range map[string]bool{
		"Show all singers of France":        true,
		"Show the singers sorted by age":    false, // an order may be cut
		"Who is the oldest singer?":         false, // a ranking is
		"Show 5 singers":                    false,
		"Show some singers":                 false,
		"Give an example of a singer":       false,
		"Which singers have the most fans?": false,
		"Zeige alle Sänger":                 false, // its words are not known
	} {
		if got := (Rules{}).Read(question, "").Unlimited(); got != want {
			t.Errorf("%s: %v", question, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, q := range []string{"How many singers do we have?", "List a, b & c; also show d.", "“x” 'y' don’t %",
		"top 3 ... how many", "\xff\u0301"} {
		f.Add(q, "x != 'a'")
	}
	f.Fuzz(func(t *testing.T, question, evidence string) {
		q := Rules{}.Read(question, evidence)
		if q.Columns < 0 || q.Columns > 6 {
			t.Fatalf("%d columns", q.Columns)
		}
		if q.Language == "" && (q.HowMany || q.Each || q.Columns > 0) {
			t.Fatalf("words were read in no language: %+v", q)
		}
		for i := 1; i < len(q.tokens); i++ {
			if q.tokens[i].from < q.tokens[i-1].to {
				t.Fatalf("tokens overlap: %+v", q.tokens)
			}
		}
		if slices.ContainsFunc(q.words, func(w token) bool { return w.text == "" }) {
			t.Fatal("empty word")
		}
	})
}
