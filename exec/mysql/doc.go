// Package mysql is the MariaDB and MySQL dialect of exec: its guard, its catalog and its plans. It imports no driver. It
// is tested on MariaDB; MySQL 8 has the same guard and is not tested.
package mysql
