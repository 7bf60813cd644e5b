// Package trino is the Trino dialect of exec: its guard, its catalog and its plans. It imports no driver.
//
//	pool, _ := sql.Open("trino", "https://reader:secret@trino:8443?catalog=hive&schema=shop") // github.com/trinodb/trino-go-client
//	db, _ := exec.New(pool, trino.Dialect{Catalogs: []string{"postgresql"}}, exec.Config{})
//	err := db.Ready(ctx)
package trino
