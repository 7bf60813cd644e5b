package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Dialect is the MariaDB and MySQL dialect for exec.New and texttosql.WithDialect. The zero Dialect works with
// github.com/go-sql-driver/mysql and a server whose sql_mode has neither ANSI_QUOTES nor NO_BACKSLASH_ESCAPES.
//
// A Dialect is safe for concurrent use.
type Dialect struct {
	// MariaDB changes the title to "MariaDB", for prompts and people. The guard does not need it: it asks the server.
	MariaDB bool
	// ANSIQuotes reports that the sql_mode of the connections has ANSI_QUOTES, or ANSI: "x" is a name, not a string. A
	// connection with another sql_mode is refused with an *exec.UnguardedError.
	ANSIQuotes bool
	// NoBackslashEscapes reports that the sql_mode has NO_BACKSLASH_ESCAPES: a backslash in a string is a plain
	// character. A connection with another sql_mode is refused, too.
	NoBackslashEscapes bool
}

// Language returns the language of MariaDB or MySQL, with the lexing rules that the fields set.
func (d Dialect) Language() exec.Language {
	title := "MySQL"
	if d.MariaDB {
		title = "MariaDB"
	}
	text := sqltext.MySQL()
	text.DoubleQuotedStrings, text.Backslash = !d.ANSIQuotes, !d.NoBackslashEscapes
	return exec.Language{
		Name: "mysql", Title: title, Text: text, QuoteName: quote,
		Keywords: keywords, BareFunctions: bareFunctions,
		Dates:     "Today is CURDATE(). All moments of a day are c >= '2024-04-30' AND c < '2024-04-30' + INTERVAL 1 DAY.",
		Backticks: text.DoubleQuotedStrings, // with ANSI_QUOTES "x" is never a string
		Drivers:   []string{"github.com/go-sql-driver/mysql"},
		Instead:   instead,
	}
}

// keywords are the reserved words of MariaDB 10.11 and of MySQL 9, the names of sets of characters, and words
// that the guard's parser takes for keywords.
var keywords = guard.Set(`_armscii8 _ascii _big5 _binary _cp1250 _cp1251 _cp1256 _cp1257 _cp850 _cp852 _cp866 _cp932 _dec8 _eucjpms _euckr
_gb18030 _gb2312 _gbk _geostd8 _greek _hebrew _hp8 _keybcs2 _koi8r _koi8u _latin1 _latin2 _latin5 _latin7 _macce
_macroman _sjis _swe7 _tis620 _ucs2 _ujis _utf16 _utf16le _utf32 _utf8 _utf8mb3 _utf8mb4 accessible add adddate all
alter analyze and as asc asensitive before between bigint binary blob both by call cascade case change char character
check collate column condition constraint continue convert create cross cube cume_dist current_date current_role
current_time current_timestamp current_user cursor databases day_hour day_microsecond day_minute day_second dec
decimal declare default delayed delete delete_domain_id dense_rank desc describe deterministic distinct distinctrow
div do_domain_ids double drop dual each else elseif empty enclosed escaped except exists exit explain false fetch
first_value float float4 float8 for force foreign from fulltext function generated get get_format grant group grouping
groups having high_priority hour_microsecond hour_minute hour_second if ignore ignore_domain_ids in index infile inner
inout insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids
is iterate join json_table key keys kill lag last_value lateral lead leading leave left library like limit linear
lines load localtime localtimestamp lock long longblob longtext loop low_priority manual master_bind
master_demote_to_replica master_demote_to_slave master_ssl_verify_server_cert match maxvalue mediumblob mediumint
mediumtext middleint minute_microsecond minute_second mod modifies natural no_write_to_binlog not nth_value ntile null
numeric of offset on optimize optimizer_costs optionally or order out outer outfile over page_checksum parallel
parse_vcol_expr partition percent_rank portion precision primary procedure purge qualify range rank read read_write
reads real recursive ref_system_id references regexp release rename repeat replace require resignal restrict return
returning revoke right rlike row row_number rows schema schemas second_microsecond select sensitive separator set show
signal smallint spatial specific sql sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache
sql_small_result sqlexception sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages
stored straight_join subdate system table tablesample terminated then tinyblob tinyint tinytext to trailing trigger
true undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values varbinary varchar
varcharacter varying virtual weight_string when where while window with write xor year_month zerofill`)

// bareFunctions are described at exec.Language.
var bareFunctions = guard.Set(`current_date current_role current_time current_timestamp current_user localtime localtimestamp utc_date utc_time utc_timestamp`)

// quote returns name in backticks.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Guard returns the guard of a DB. See the package comment for what it does.
func (d Dialect) Guard(c exec.GuardConfig) (exec.Open, error) {
	s := &server{dialect: d, policy: c.Policy}
	return s.open, nil
}

// SampleRows reads the first rows of t in the order of its primary key, or in the order in which the table stores them.
// With Spread, a long table whose primary key is one integer is read in several places, as guard.SampleRows does.
func (d Dialect) SampleRows(
	ctx context.Context, run func(ctx context.Context, sql string, rows int) (*result.Table, error), t schema.Table,
	o exec.SampleOptions,
) (exec.RowSample, error) {
	s := guard.NewSampled(t.TableName().Quoted(d.Language()), t, o, quote, func(kind, column string) string {
		if !long.MatchString(kind) {
			return column
		}
		return fmt.Sprintf("LEFT(%s, %d)", column, o.Cut)
	})
	var key []string
	for _, column := range t.PrimaryKey {
		key = append(key, "t."+quote(column))
	}
	switch c, _ := t.Column(strings.Join(t.PrimaryKey, "")); {
	case len(key) > 0:
		s.From += " FORCE INDEX (PRIMARY)"
		s.Order = " ORDER BY " + strings.Join(key, ", ")
		if len(key) == 1 && c != nil && strings.Contains(c.Type, "int") {
			s.Key = key[0]
		}
	case t.Kind == "table":
		s.From += " USE INDEX ()" // or a covering index might be read in place of the table, in its own order
	}
	return guard.SampleRows(ctx, run, s, o)
}

// long matches the types of texts and blobs, which LEFT keeps as what they are.
var long = regexp.MustCompile("char|text|blob|binary")
