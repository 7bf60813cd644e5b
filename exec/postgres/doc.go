// Package postgres is the PostgreSQL dialect of exec: its guard, its catalog and its plans. It imports no driver.
package postgres
