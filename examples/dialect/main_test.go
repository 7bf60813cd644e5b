package main

func Example() {
	main()
	// Output:
	// SELECT name, since FROM customer ORDER BY since DESC
	//   [[Bob 2021-11-30] [Ada 2019-05-01]]
	// SELECT surname FROM customer
	//   exec: invalid statement (schema): no such column: surname
	// SELECT * FROM customer
	//   exec: refused (column): * would read columns of customer that may not be read: name the columns that you need
	// SELECT load_extension('x.so')
	//   exec: refused (function): load_extension is not on the list of functions that may be called
	// DELETE FROM customer
	//   exec: refused (not-read-only): the statement starts with DELETE
}
