package session_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// erp is a schema with tables alike, as people correct answers about them.
func erp() *schema.Schema {
	s := &schema.Schema{}
	for line := range strings.SplitSeq("customers id,name,city;prod_customers id,name,city;orders "+
		"id,customer_id,total,ordered_on;"+
		"order_lines order_id,product_id;products id,name,list_price;payments id,order_id,amount", ";") {
		name, columns, _ := strings.Cut(line, " ")
		t := schema.Table{Name: name}
		for c := range strings.SplitSeq(columns, ",") {
			t.Columns = append(t.Columns, schema.Column{Name: c})
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

// TestPlainEnglish: what people write without looking at a form. None is read as something else.
func TestPlainEnglish(t *testing.T) {
	const key = "join orders.customer_id = customers.id"
	for want, texts := range map[string]string{
		"table prod_customers": `use the prod_customers table · use the prod_customers table instead · prod_customers please · I meant prod_customers ·
			use table prod_customers here · try prod_customers instead · please go with the prod_customers table ·
			it's prod_customers · I want the prod_customers table · 
			the table should be prod_customers · prod_customers is the right table · query prod_customers instead, thanks ·
			you should have used prod_customers · 
			switch to prod_customers · read from the prod_customers table · Actually, the prod_customers table. · look in prod_customers`,
		"table payments": `take the payments table please · wrong table, it is payments · no, the payments table ·
			the question is about the payments table · 
			that's the wrong table, use payments · the correct table is payments · it should be payments ·
			could you please use the payments table · we need the payments table · not right, it is payments`,
		"table order_lines":        `the right table is order_lines · you should be using order_lines here · I mean order_lines`,
		"table orders,order_lines": `both the orders table and the order_lines table`,
		"table orders,payments":    `you need orders and payments · use orders and payments · use both orders and payments`,
		"table  not customers": `don't use the customers table · stop using the customers table · please do not use customers ·
			never use the customers table again · avoid customers · leave the customers table out`,
		"table  not payments": `ignore the payments table · do it without the payments table · skip the payments table ·
			leave out the payments table · forget the payments table`,
		"table orders not payments": `use the orders table, not the payments table ·
			orders, not payments · I want orders instead of payments · 
			use orders in place of payments · it should be orders rather than payments`,
		"table prod_customers not customers": `it should be prod_customers, not customers · go with prod_customers, not with customers ·
			prefer prod_customers over customers · customers is wrong, use prod_customers ·
			swap customers for prod_customers · not customers but prod_customers ·
			replace customers with prod_customers · customers is the wrong table, it should be prod_customers ·
			customers should be prod_customers · switch from customers to prod_customers ·
			I said prod_customers, not customers · prod_customers is better than customers ·
			customers is outdated; use the prod_customers table · I'd prefer prod_customers to customers ·
			don't use customers but prod_customers · use prod_customers and not customers ·
			don't take the customers table, take prod_customers`,
		key: `join on orders.customer_id = customers.id ·
			the join should be orders.customer_id = customers.id · orders.customer_id is the key to customers.id ·
			orders.customer_id matches customers.id · customers and orders are joined on orders.customer_id = customers.id ·
			orders.customer_id references customers.id · connect orders.customer_id to customers.id ·
			join them on orders.customer_id = customers.id · orders.customer_id = customers.id is the key ·
			connected by orders.customer_id = customers.id · it should be orders.customer_id = customers.id ·
			orders.customer_id is the foreign key to customers.id · link: orders.customer_id = customers.id ·
			you must join on orders.customer_id = customers.id`,
		"join payments.order_id = orders.id": `use payments.order_id = orders.id to join · join orders to payments by payments.order_id = orders.id ·
			join the payments table with the orders table on payments.order_id = orders.id`,
		"join order_lines.product_id = products.id": `they belong together on order_lines.product_id = products.id ·
			the key is order_lines.product_id = products.id`,
		"column 'revenue' payments.amount": `revenue means payments.amount · revenue is payments.amount · the word revenue means payments.amount ·
			revenue is the payments.amount column · by revenue I mean payments.amount ·
			revenue should be payments.amount · take payments.amount as revenue · for revenue use payments.amount ·
			I mean payments.amount when I say revenue · what I call revenue is payments.amount ·
			revenue: payments.amount · revenue comes from payments.amount`,
		"column 'price' products.list_price": `when I say price I mean products.list_price · "price" stands for products.list_price ·
			use products.list_price for price · products.list_price is what I mean by price`,
		"column 'date' orders.ordered_on": `take orders.ordered_on for date · date = orders.ordered_on · read date as orders.ordered_on`,
		"column 'client name' customers.name": `by client name I mean customers.name · client name is customers.name ·
			if I say client name, I mean customers.name`,
		natural: `use the customers table or the prod_customers table · is payments the right table? · why not the payments table? · only orders of 2024 ·
			don't use only the orders table · use customers unless prod_customers has them · use the table with the most rows · payments looks wrong ·
			orders.customer_id = customers.id is wrong · do not join on payments.order_id = orders.id · revenue is not payments.amount ·
			is payments the right table · which table has the payments · customers is wrong · the payments table is empty · count orders per customer ·
			use orders of last year · it is not payments.amount · the column is payments.amount · is orders.customer_id = customers.id right ·
			customers who have no orders · payments without orders · orders before 2020, not after · show the names of products, not the ids ·
			use orders only if payments is empty · orders.total is too high ·
			don't join orders.customer_id with customers.id · do it without payments of 2020 · 
			I don't think customers is right · the customers table and maybe the orders table · revenue is payments.amount minus tax ·
			use another table · use a different table · use fewer tables · not just orders · don't use just orders ·
			payments.amount is empty · the answer is payments.amount · neither customers nor prod_customers ·
			anything but the customers table · use more tables · customers should be counted once`,
	} {
		for text := range strings.SplitSeq(texts, "·") {
			text = strings.Join(strings.Fields(text), " ")
			c, err := session.Parse(text, erp())
			got := say(c)
			if want == natural && got == natural+" "+text {
				got = natural
			}
			if err != nil || got != want {
				t.Errorf("%q\n\tgot  %s, %v\n\twant %s", text, got, err, want)
			}
		}
	}
}
