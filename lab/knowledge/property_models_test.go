package knowledge_test

import (
	"fmt"
	"math"
	"strings"
)

// row is a row of a table, by the names of its columns in lower case.
type row map[string]any

// seen is a row with all the rows that it leads to, by table or by name of a relationship.
type seen map[string]row

func (s seen) at(column string) any {
	table, name, _ := strings.Cut(strings.ToLower(column), ".")
	return s[table][name]
}

func (s seen) number(column string) float64 {
	switch v := s.at(column).(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// brute is a metric as a loop over rows: of one table, or a combination of others.
type brute struct {
	table string
	kind  string // "sum", "count", "distinct", "max"
	value func(seen) any
	where func(seen) bool

	parts   []string
	combine func(a, b float64) float64
}

func sum(table string, value func(seen) float64) brute {
	return brute{table: table, kind: "sum", value: func(s seen) any { return value(s) }}
}

func count(table string) brute {
	return brute{table: table, kind: "count", value: func(seen) any { return 1.0 }}
}

func of(column string) func(seen) float64 { return func(s seen) float64 { return s.number(column) } }

func (b brute) only(where func(seen) bool) brute { b.where = where; return b }

func ratio(a, b string) brute {
	return brute{parts: []string{a, b}, combine: func(x, y float64) float64 { return x / y }}
}

func minus(a, b string) brute {
	return brute{parts: []string{a, b}, combine: func(x, y float64) float64 { return x - y }}
}

// bruteModel is a model as its tests need it.
type bruteModel struct {
	metrics    map[string]brute
	computed   map[string]func(row) any
	dimensions []string
	conditions []bruteCondition
}

type bruteCondition struct {
	sql    string
	tables []string // that it names
	holds  func(seen) bool
}

func is(column string, value any) bruteCondition {
	literal := fmt.Sprint(value)
	if s, ok := value.(string); ok {
		literal = "'" + s + "'"
	}
	return bruteCondition{
		sql: column + " = " + literal, tables: []string{column[:strings.Index(column, ".")]},
		holds: func(s seen) bool { return s.at(column) == value },
	}
}

var bruteModels = map[string]bruteModel{
	"chinook": {
		metrics: map[string]brute{
			"revenue": sum("invoiceline", func(s seen) float64 {
				return s.number("invoiceline.unitprice") * s.number("invoiceline.quantity")
			}),
			"invoiced": sum("invoice", of("invoice.total")),
			"invoices": count("invoice"),
			"units":    sum("invoiceline", of("invoiceline.quantity")),
			"tracks":   count("track"),
			"customers": {table: "customer", kind: "distinct", value: func(s seen) any {
				return s.at("customer.customerid")
			}},
			"minutes":              sum("track", func(s seen) float64 { return s.number("track.milliseconds") / 60000 }),
			"average_invoice":      ratio("invoiced", "invoices"),
			"long_tracks":          count("track").only(func(s seen) bool { return s.number("track.milliseconds") > 300000 }),
			"long_share":           ratio("long_tracks", "tracks"),
			"revenue_per_customer": ratio("revenue", "customers"),
			"longest":              {table: "track", kind: "max", value: func(s seen) any { return s.at("track.milliseconds") }},
		},
		computed: map[string]func(row) any{
			"customer.name": func(r row) any { return fmt.Sprint(r["firstname"], " ", r["lastname"]) },
		},
		dimensions: []string{
			"", "Artist.Name", "Album.Title", "Track.MediaTypeId", "Genre.Name", "MediaType.Name", "Playlist.Name",
			"PlaylistTrack.PlaylistId", "Customer.Country", "Customer.Name", "Employee.LastName", "Invoice.BillingCity",
			"InvoiceLine.Quantity", "Manager.LastName",
		},
		conditions: []bruteCondition{
			{}, is("Genre.Name", "Jazz"), is("Customer.Country", "USA"), is("Playlist.Name", "Grunge"),
			is("Employee.City", "Calgary"),
			{sql: "Track.Milliseconds > 300000 AND Genre.Name = 'Rock'", tables: []string{"Track", "Genre"},
				holds: func(s seen) bool {
					return s.number("track.milliseconds") > 300000 && s.at("genre.name") == "Rock"
				}},
		},
	},
	"classicmodels": {
		metrics: map[string]brute{
			"sales": sum("orderdetails", func(s seen) float64 {
				return s.number("orderdetails.quantityordered") * s.number("orderdetails.priceeach")
			}),
			"paid":          sum("payments", of("payments.amount")),
			"orders":        count("orders"),
			"customers":     count("customers"),
			"credit":        sum("customers", of("customers.creditlimit")),
			"open_balance":  minus("sales", "paid"),
			"shipped":       count("orders").only(func(s seen) bool { return s.at("orders.status") == "Shipped" }),
			"shipped_share": ratio("shipped", "orders"),
			"margin": sum("orderdetails", func(s seen) float64 {
				return s.number("orderdetails.quantityordered") * (s.number("orderdetails.priceeach") - s.number(
					"products.buyprice"))
			}),
			"stock": sum("products", of("products.quantityinstock")),
			"buyers": {table: "orders", kind: "distinct", value: func(s seen) any {
				return s.at("orders.customernumber")
			}},
			"average_order": ratio("sales", "orders"),
		},
		dimensions: []string{
			"", "customers.country", "orders.status", "orderdetails.orderLineNumber", "payments.customerNumber",
			"products.productVendor", "productlines.productLine", "employees.jobTitle", "offices.city",
		},
		conditions: []bruteCondition{
			{}, is("orders.status", "Disputed"), is("customers.country", "USA"), is("products.productLine", "Planes"),
			is("offices.city", "Paris"),
		},
	},
	"jaffle": {
		metrics: map[string]brute{
			"lifetime_spend_pretax": sum("customers", of("customers.lifetime_spend_pretax")),
			"count_lifetime_orders": sum("customers", of("customers.count_lifetime_orders")),
			"average_order_value":   ratio("lifetime_spend_pretax", "count_lifetime_orders"),
			"revenue":               sum("order_item", of("order_item.product_price")),
			"order_cost":            sum("orders", of("orders.order_cost")),
			"food_revenue": sum("order_item", func(s seen) float64 {
				return s.number("order_item.is_food_item") * s.number("order_item.product_price")
			}),
			"order_gross_profit": minus("revenue", "order_cost"),
			"order_total":        sum("orders", of("orders.order_total")),
			"new_customer_orders": count("orders").only(func(s seen) bool {
				return s.number("orders.customer_order_number") == 1
			}),
			"large_orders": count("orders").only(func(s seen) bool { return s.number("orders.order_total_dim") >= 20 }),
			"orders":       count("orders"),
		},
		computed: map[string]func(row) any{"orders.order_total_dim": func(r row) any { return r["order_total"] }},
		dimensions: []string{
			"", "customers.customer_type", "customers.customer_name", "locations.location_name", "order_item.product_id",
			"orders.customer_order_number", "products.product_type", "supplies.supply_name",
		},
		conditions: []bruteCondition{
			{}, is("customers.customer_type", "returning"), is("products.product_type", "beverage"),
			is("order_item.product_id", "BEV-001"),
		},
	},
	"trips": {
		metrics: map[string]brute{
			"trips":              count("trip"),
			"fare":               sum("trip", of("trip.fare")),
			"passengers":         sum("trip", of("trip.passengers")),
			"booked":             sum("booking", of("booking.amount")),
			"fare_per_passenger": ratio("fare", "passengers"),
			"web_booked": sum("booking", of("booking.amount")).only(func(s seen) bool {
				return s.at("booking.channel") == "web"
			}),
		},
		computed: map[string]func(row) any{"city.is_capital": func(r row) any {
			if r["is_seat"] == "y" {
				return int64(1)
			}
			return int64(0)
		}},
		dimensions: []string{"", "city.name", "origin.name", "destination.country", "destination.is_capital",
			"trip.passengers", "booking.channel"},
		conditions: []bruteCondition{
			{}, is("destination.is_capital", int64(1)), is("booking.channel", "web"), is("origin.country", "Norway"),
			is("destination.country", "Norway"),
		},
	},
}
