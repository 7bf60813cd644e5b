// Generate writes shop.sql, the database of the examples, to standard output:
//
//	go run ./internal/shop/generate > internal/shop/shop.sql
//
// Equal runs give equal bytes.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

const ddl = `-- A small shop, made by internal/shop/generate. Do not edit.
PRAGMA foreign_keys = ON;

-- People who have an account.
CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL, -- full English name: 'USA', 'France'
  joined DATE NOT NULL -- day the account was opened
);

CREATE TABLE products (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  category TEXT NOT NULL,
  price REAL NOT NULL -- list price in euros today
);

CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers(id),
  ordered_on DATE NOT NULL,
  status TEXT NOT NULL -- 'open', 'shipped', 'returned' or 'cancelled'
);

-- One line of an order.
CREATE TABLE order_items (
  order_id INTEGER NOT NULL REFERENCES orders(id),
  product_id INTEGER NOT NULL REFERENCES products(id),
  quantity INTEGER NOT NULL,
  unit_price REAL NOT NULL, -- price paid, in euros
  PRIMARY KEY (order_id, product_id)
);
CREATE INDEX orders_by_customer ON orders(customer_id);
`

var places = []struct{ city, country string }{
	{"Boston", "USA"}, {"Austin", "USA"}, {"Portland", "USA"}, {"Denver", "USA"},
	{"Lyon", "France"}, {"Nantes", "France"}, {"Köln", "Germany"}, {"Leipzig", "Germany"},
	{"Sevilla", "Spain"}, {"Bergen", "Norway"}, {"Osaka", "Japan"}, {"Porto", "Portugal"},
}

var first = []string{"Ada", "Bruno", "Chloé", "Dmitri", "Elin", "Farid", "Grete", "Hana", "Iñigo", "Jonas", "Keiko", "Luca", "Mina", "Noor", "Otto", "Paula", "Quentin", "Rosa", "Søren", "Tove", "Uma", "Viktor", "Wanda", "Xavi", "Yuki", "Zoe"}

var last = []string{"Almeida", "Becker", "Carver", "Dubois", "Eriksen", "Fischer", "García", "Hughes", "Ito", "Jansen", "Kowalski", "Lindqvist", "Moreau", "Novak", "O'Brien", "Petit", "Quiroga", "Rossi", "Santos", "Turner"}

var products = []struct {
	name, category string
	price          float64
}{
	{"Trail Lamp", "Outdoor", 39.90}, {"Rain Shell", "Outdoor", 129.00}, {"Camp Stove", "Outdoor", 64.50}, {"Two-Person Tent", "Outdoor", 249.00},
	{"French Press", "Kitchen", 34.00}, {"Chef's Knife", "Kitchen", 89.00}, {"Cast Iron Pan", "Kitchen", 54.90}, {"Spice Rack", "Kitchen", 24.00},
	{"Desk Lamp", "Office", 45.00}, {"Notebook, Ruled", "Office", 7.50}, {"Standing Desk", "Office", 399.00}, {"Ink Set", "Office", 18.00},
	{"Wooden Train", "Toys", 27.50}, {"Puzzle 1000", "Toys", 16.90}, {"Kite", "Toys", 21.00}, {"Chess Set", "Toys", 48.00},
}

func main() {
	rng := rand.New(rand.NewPCG(7, 11))
	var b strings.Builder
	b.WriteString(ddl)
	day := func(year, span int) time.Time {
		return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(span))
	}

	const customers = 40
	var joined []time.Time
	b.WriteString("\nINSERT INTO customers VALUES\n")
	for i := range customers {
		p := places[rng.IntN(len(places))]
		joined = append(joined, day(2021, 1200))
		fmt.Fprintf(&b, "%s(%d, %s, %s, %s, '%s')", comma(i), i+1, quote(first[i%len(first)]+" "+last[rng.IntN(len(last))]), quote(p.city), quote(p.country), joined[i].Format(time.DateOnly))
	}
	b.WriteString(";\n\nINSERT INTO products VALUES\n")
	for i, p := range products {
		fmt.Fprintf(&b, "%s(%d, %s, %s, %.2f)", comma(i), i+1, quote(p.name), quote(p.category), p.price)
	}

	const orders = 120
	statuses := []string{"shipped", "shipped", "shipped", "shipped", "open", "returned", "cancelled"}
	var items strings.Builder
	n := 0
	b.WriteString(";\n\nINSERT INTO orders VALUES\n")
	for i := range orders {
		c := rng.IntN(customers - 6) // the last six never order
		on := joined[c].AddDate(0, 0, 1+rng.IntN(500))
		fmt.Fprintf(&b, "%s(%d, %d, '%s', %s)", comma(i), i+1, c+1, on.Format(time.DateOnly), quote(statuses[rng.IntN(len(statuses))]))
		for _, p := range rng.Perm(len(products) - 1)[:1+rng.IntN(4)] { // the last product is never sold
			price := products[p].price
			if rng.IntN(4) == 0 {
				price *= 0.9
			}
			fmt.Fprintf(&items, "%s(%d, %d, %d, %.2f)", comma(n), i+1, p+1, 1+rng.IntN(3), price)
			n++
		}
	}
	b.WriteString(";\n\nINSERT INTO order_items VALUES\n" + items.String() + ";\n")
	fmt.Fprint(os.Stdout, b.String())
}

// comma separates row i from the one before.
func comma(i int) string {
	if i == 0 {
		return "  "
	}
	return ",\n  "
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
