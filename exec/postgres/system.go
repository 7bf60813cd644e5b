package postgres

import (
	"strconv"
	"strings"
)

// row is one row as the server writes it; NULL is empty.
type row []string

func (r row) is(i int) bool { return r[i] == "t" }

func (r row) number(i int) int {
	n, _ := strconv.Atoi(r[i])
	return n
}

func (r row) oid(i int) uint32 { return oidOf(r[i]) }

func oidOf(text string) uint32 {
	n, _ := strconv.ParseUint(text, 10, 32)
	return uint32(n)
}

// literal writes a text of the database for a statement of ours.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// users is the condition that a schema is not the engine's own.
func users(namespace string) string {
	return namespace + ".nspname <> 'information_schema' AND " + namespace + ".nspname !~ '^pg_'"
}

// ofExtensions selects the objects of a catalog that belong to an extension.
func ofExtensions(class string) string {
	return "SELECT objid FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog." + class + "'::regclass AND deptype = 'e'"
}

// versionText reads a text that changes with the catalog, and the snapshot. It reads no relation, so it leaves no lock,
// and takes a twentieth of a millisecond. The text is the number of rows that were inserted, updated and deleted in
// each table of the catalog that says something of a schema, as the statistics have it. ANALYZE does not count. A
// change shows when the server has counted it: about a second after its commit, and up to ten seconds where the session
// that made it did more and then waits. What changes the catalog without changing a schema, as a temporary table does,
// changes it too.
//
// A standby and a server with track_counts = off count nothing. There the text changes every ten seconds.
//
// The tables are pg_type, pg_attribute, pg_proc, pg_class, pg_amop, pg_amproc, pg_attrdef, pg_cast, pg_constraint,
// pg_depend, pg_description, pg_index, pg_inherits, pg_namespace, pg_opclass, pg_operator, pg_rewrite, pg_enum and
// pg_range.
//
// The snapshot is "XMIN:XMAX:LIST". While it stays the same, and nothing stands in the list, no transaction has written
// anything.
const versionText = `SELECT pg_catalog.concat_ws(':', extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
	CASE WHEN pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.=) 'off'
		THEN pg_catalog.floor(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog./) 10) END,
	(SELECT pg_catalog.string_agg(pg_catalog.concat_ws('.', pg_catalog.pg_stat_get_tuples_inserted(o),
			pg_catalog.pg_stat_get_tuples_updated(o), pg_catalog.pg_stat_get_tuples_deleted(o)), ',')
		FROM pg_catalog.unnest('{1247,1249,1255,1259,2602,2603,2604,2605,2606,2608,2609,2610,2611,2615,2616,2617,2618,3501,3541}'::pg_catalog.oid[]) o)),
	pg_catalog.txid_current_snapshot()::pg_catalog.text`

// version reads what versionText gives.
func (f facts) version(rows []row) (version, snapshot string) {
	return f.place() + ":" + rows[0][0], rows[0][1]
}

// stampText returns a text for each of some relations, by OID, that changes when a column comes, goes, or has another
// name, and when a view is replaced. Where a policy denies columns, the catalog cannot be trusted for the seconds until
// the server has counted a change.
const stampText = `SELECT c.oid, pg_catalog.concat_ws('/', c.relname,
	(SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attname, a.xmin), ',' ORDER BY a.attnum)
		FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid),
	(SELECT pg_catalog.string_agg(r.xmin::pg_catalog.text, ',' ORDER BY r.oid) FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid))
	FROM pg_catalog.pg_class c WHERE c.oid >= 16384 AND `

// lockedStampText is stampText for the relations that the connection holds a lock on.
const lockedStampText = stampText + `c.oid IN (SELECT l.relation FROM pg_catalog.pg_lock_status() l
	WHERE l.locktype = 'relation' AND l.pid = pg_catalog.pg_backend_pid())`

// The statements that read the system tables, in one message. There are few joins, since the planner may know nothing
// of a catalog that is new and choose the slowest one.
const (
	readVersion = iota
	readTypes
	readRelations
	readColumns
	readDefaults
	readComments
	readIndexes
	readKeys
	readChecks
	readFunctions
	readOperators
	readCasts
	readClasses
	readStored
	readDepends
	readRole
	readStamps // not where no column is denied
)

// underIt asks whether the view c reads a relation of which a user may read nothing.
func underIt(user string) string {
	return `EXISTS (SELECT FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass
						AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> c.oid
					WHERE r.ev_class = c.oid AND NOT pg_catalog.has_any_column_privilege(` + user + `, d.refobjid, 'SELECT'))`
}

// systemTexts are those statements. standard is the default schema; functions are those that a policy allows, in lower
// case.
func systemTexts(standard string, functions []string, stamps bool) []string {
	allowed := "''"
	for _, name := range functions {
		allowed += ", " + literal(name)
	}
	// made are the functions of users that are not on the list; classes are the operator classes that call one. Where
	// somebody put a function for a type of his own into a class of the engine, the class is not what calls it.
	made := `WITH made AS (SELECT oid, proname FROM pg_catalog.pg_proc WHERE oid > 16383 AND oid NOT IN (` +
		ofExtensions("pg_proc") + `)
			AND pg_catalog.lower(proname::text COLLATE "C") NOT IN (` + allowed + `)),
		families AS (
			SELECT a.amprocfamily AS family, a.amproclefttype = a.amprocrighttype AS same, m.proname
			FROM pg_catalog.pg_amproc a JOIN made m ON m.oid = a.amproc
			UNION SELECT a.amopfamily, a.amoplefttype = a.amoprighttype, p.proname
			FROM pg_catalog.pg_amop a JOIN pg_catalog.pg_operator o ON o.oid = a.amopopr JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
			WHERE o.oid > 16383 AND o.oid NOT IN (` + ofExtensions("pg_operator") + `) AND pg_catalog.lower(p.proname::text COLLATE "C") NOT IN (` + allowed + `)),
		classes AS (
			SELECT c.oid, c.opcintype, c.opcdefault, c.opcname, f.proname FROM pg_catalog.pg_opclass c JOIN families f ON f.family = c.opcfamily
			WHERE f.same OR c.oid > 16383)
		`
	texts := []string{
		readVersion: versionText,
		readTypes: made + `SELECT t.oid, n.nspname, t.typname, t.typtype, t.typcategory, t.typispreferred, t.typrelid,
				CASE t.typtype WHEN 'd' THEN t.typbasetype WHEN 'r' THEN r.rngsubtype WHEN 'm' THEN r.rngsubtype
					ELSE CASE WHEN t.typcategory = 'A' THEN t.typelem END END,
				t.oid IN (` + ofExtensions("pg_type") + `),
				CASE WHEN t.typtype = 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END,
				CASE WHEN t.typtype = 'e' THEN (SELECT pg_catalog.string_agg(pg_catalog.quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
					FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid) END,
				CASE WHEN t.typtype IN ('d', 'e') THEN pg_catalog.obj_description(t.oid, 'pg_type') END,
				CASE WHEN t.oid > 16383 AND t.typtype = 'b' THEN (SELECT m.proname FROM made m WHERE m.oid IN (t.typinput, t.typoutput) LIMIT 1) END
			FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
				LEFT JOIN pg_catalog.pg_range r ON t.typtype IN ('r', 'm') AND t.oid::text IN (r.rngtypid::text, pg_catalog.to_jsonb(r)->>'rngmultitypid')
			WHERE t.typtype IN ('b', 'd', 'e', 'r', 'm') OR t.typtype = 'c' AND ` + users("n"),
		// A view with the rights of its reader may have something under it that this user may not read.
		readRelations: `SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltype, c.relrowsecurity,
				CASE WHEN n.nspname = 'pg_catalog' OR c.relkind IN ('S', 'c') OR c.relispartition THEN false
					ELSE pg_catalog.has_schema_privilege(n.oid, 'USAGE')
						AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
						AND c.oid <> ALL (ARRAY(SELECT objid FROM pg_catalog.pg_depend WHERE refclassid = 'pg_catalog.pg_extension'::regclass
							AND classid = 'pg_catalog.pg_class'::regclass AND deptype = 'e')) END,
				CASE WHEN c.relkind = 'm' AND NOT c.relispopulated THEN 'it has no rows before REFRESH MATERIALIZED VIEW'
					WHEN c.relkind <> 'v' THEN ''
					WHEN 'security_invoker=true' = ANY (c.reloptions)
						THEN CASE WHEN ` + underIt("current_user") + ` THEN 'this user may not read what is under it' ELSE '' END
					WHEN ` + underIt("c.relowner") + ` THEN 'the user who owns it may not read what is under it' ELSE '' END
			FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c') AND (n.nspname = 'pg_catalog' OR ` + users("n") + `)
			ORDER BY n.nspname <> ` + literal(standard) + `, n.nspname, c.oid`,
		readColumns: `SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated <> '', a.attidentity,
				CASE WHEN a.attrelid IN (SELECT c.oid FROM pg_catalog.pg_class c WHERE c.oid > 16383 AND NOT pg_catalog.has_table_privilege(c.oid, 'SELECT'))
					THEN pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') ELSE true END,
				pg_catalog.format_type(a.atttypid, a.atttypmod), a.attgenerated = '' AND a.attcollation IN (0, 100)
			FROM pg_catalog.pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped
				AND a.attrelid IN (SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
					WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'c') AND ` + users("n") + `) ORDER BY 1, 2`,
		readDefaults: `SELECT adrelid, adnum, pg_catalog.pg_get_expr(adbin, adrelid) FROM pg_catalog.pg_attrdef`,
		readComments: `SELECT objoid, objsubid, description FROM pg_catalog.pg_description
			WHERE classoid = 'pg_catalog.pg_class'::regclass AND objoid > 16383`,
		readIndexes: `SELECT i.indrelid, i.indisprimary, pg_catalog.array_to_string((i.indkey::smallint[])[0:i.indnkeyatts - 1], ',')
			FROM pg_catalog.pg_index i WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indrelid > 16383
			ORDER BY i.indrelid, i.indexrelid`,
		readKeys: `SELECT k.conrelid, k.confrelid, pg_catalog.array_to_string(k.conkey, ','), pg_catalog.array_to_string(k.confkey, ',')
			FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' ORDER BY k.conrelid, k.oid`,
		readChecks: `SELECT k.conrelid, k.contypid, pg_catalog.pg_get_constraintdef(k.oid) FROM pg_catalog.pg_constraint k
			WHERE k.contype = 'c' AND k.oid > 16383 ORDER BY k.conrelid, k.contypid, k.oid`,
		// The types of what users' functions take, 0 for one that may have other arguments; whether one takes or gives a type
		// that a class of a user compares.
		readFunctions: made +
			`SELECT s.name, s.nspname, s.extension, pg_catalog.bool_or(s.single), pg_catalog.bool_or(s.single AND s.changing),
				pg_catalog.bool_or(s.compared), pg_catalog.string_agg(s.takes, ' ')
			FROM (SELECT p.proname AS name, n.nspname, p.oid IN (` + ofExtensions("pg_proc") + `) AS extension,
					p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 AND p.proargtypes[0] <> 2281 AS single, p.provolatile <> 'i' AS changing,
					p.prorettype = ANY (ARRAY(SELECT opcintype FROM classes WHERE opcdefault))
						OR coalesce(p.proallargtypes && ARRAY(SELECT opcintype FROM classes WHERE opcdefault), false) AS compared,
					CASE WHEN n.nspname <> 'pg_catalog' THEN CASE WHEN p.pronargs > 0 AND p.pronargdefaults = 0 AND p.provariadic = 0
						THEN p.proargtypes::text ELSE '0' END END AS takes
				FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
				WHERE n.nspname = 'pg_catalog' OR ` + users("n") + `) s GROUP BY 1, 2, 3`,
		readOperators: `SELECT o.oprname, n.nspname, p.proname, o.oprleft, o.oprright,
				EXISTS (SELECT FROM pg_catalog.pg_operator b WHERE b.oid < 16384 AND b.oprname = o.oprname)
			FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
			WHERE ` + users("n") + ` AND o.oid NOT IN (` + ofExtensions("pg_operator") + `) ORDER BY 1, 2, 3`,
		readCasts: `SELECT k.castsource, k.casttarget, k.castcontext = 'i', p.proname FROM pg_catalog.pg_cast k
			LEFT JOIN pg_catalog.pg_proc p ON p.oid = k.castfunc AND p.oid NOT IN (` + ofExtensions("pg_proc") + `) WHERE k.oid > 16383 ORDER BY 1, 2`,
		// Of types, of the columns of an index and of the key of a partitioned table; 0 is an expression.
		readClasses: made + `SELECT c.opcintype, 0, 0, c.opcname, c.proname FROM classes c WHERE c.opcdefault
			UNION SELECT r.rngtypid, 0, 0, c.opcname, c.proname FROM pg_catalog.pg_range r JOIN classes c ON c.oid = r.rngsubopc
			UNION SELECT r.rngtypid, 0, 0, '', m.proname FROM pg_catalog.pg_range r JOIN made m ON m.oid IN (r.rngcanonical, r.rngsubdiff)
			UNION SELECT 0, i.indrelid, k, c.opcname, c.proname FROM pg_catalog.pg_index i JOIN classes c ON c.oid = ANY (i.indclass),
				pg_catalog.unnest(i.indkey) k
			UNION SELECT 0, p.partrelid, k, c.opcname, c.proname FROM pg_catalog.pg_partitioned_table p JOIN classes c ON c.oid = ANY (p.partclass),
				pg_catalog.unnest(p.partattrs) k ORDER BY 1, 2, 3, 4, 5`,
		// The trees of views and of the CHECKs of domains. The engine keeps dependencies on users' objects beside them, and
		// none on its own.
		readStored: `WITH texts AS (
				SELECT r.ev_class AS id, r.ev_action::text AS body, 'pg_catalog.pg_rewrite'::regclass AS class, r.oid AS object
				FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
				WHERE r.ev_type = '1' AND c.relkind IN ('v', 'm') AND ` + users("n") + `
				UNION ALL SELECT k.contypid, k.conbin::text, 'pg_catalog.pg_constraint'::regclass, k.oid
				FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace
				WHERE k.contypid <> 0 AND k.conbin IS NOT NULL AND ` + users("n") + `),
			used AS (
				SELECT DISTINCT t.id, m[1] AS what, m[2]::oid AS used FROM texts t,
					pg_catalog.regexp_matches(t.body, ':(funcid|opfuncid|aggfnoid|winfnoid|relid|varattno) (\d+)', 'g') m
				WHERE m[1] <> 'varattno' OR m[2] = '0'
				UNION SELECT t.id, 'opfuncid', o.oprcode::oid FROM texts t JOIN pg_catalog.pg_depend d ON d.classid = t.class AND d.objid = t.object
					AND d.refclassid = 'pg_catalog.pg_operator'::regclass JOIN pg_catalog.pg_operator o ON o.oid = d.refobjid
				UNION SELECT t.id, 'type', d.refobjid FROM texts t JOIN pg_catalog.pg_depend d ON d.classid = t.class AND d.objid = t.object
					AND d.refclassid = 'pg_catalog.pg_type'::regclass AND d.refobjid <> t.id)
			SELECT u.id, u.what, u.used, n.nspname, p.proname, coalesce(p.provolatile <> 'v' AND p.oid IN (` + ofExtensions("pg_proc") + `)
					OR p.oid IN (SELECT oprcode FROM pg_catalog.pg_operator WHERE oid < 16384)
					OR p.oid IN (SELECT castfunc FROM pg_catalog.pg_cast WHERE oid < 16384), false)
			FROM used u LEFT JOIN pg_catalog.pg_proc p ON u.what IN ('funcid', 'opfuncid', 'aggfnoid', 'winfnoid') AND p.oid = u.used
				LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace ORDER BY 1, 5, 3`,
		// What a view reads, what a policy of row security reads, of what a column is generated, which table is a child of
		// which. A SELECT obeys the policies for SELECT and for ALL.
		readDepends: `SELECT 'view', r.ev_class, d.refobjid, d.refobjsubid FROM pg_catalog.pg_rewrite r
				JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
					AND d.refclassid = 'pg_catalog.pg_class'::regclass
				WHERE r.ev_type = '1' AND d.refobjid <> r.ev_class AND r.ev_class > 16383
			UNION SELECT 'generated', a.adrelid, a.adnum, d.refobjsubid FROM pg_catalog.pg_attrdef a
				JOIN pg_catalog.pg_attribute t ON t.attrelid = a.adrelid AND t.attnum = a.adnum AND t.attgenerated <> ''
				JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = a.adrelid
					AND d.refobjsubid > 0 AND d.refobjsubid <> a.adnum
					AND (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = a.oid
						OR d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = a.adrelid AND d.objsubid = a.adnum)
			UNION SELECT 'policy', p.polrelid, d.refobjid, 0 FROM pg_catalog.pg_policy p
				JOIN pg_catalog.pg_class t ON t.oid = p.polrelid AND t.relrowsecurity
				JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_policy'::regclass AND d.objid = p.oid
					AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> p.polrelid
				WHERE p.polcmd IN ('r', '*')
			UNION SELECT 'child', inhrelid, inhparent, 0 FROM pg_catalog.pg_inherits ORDER BY 1, 2, 3, 4`,
		readRole: `SELECT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = session_user), session_user,
				(SELECT pg_catalog.count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
					WHERE r.rolname = session_user AND c.relkind IN ('r', 'p', 'm', 'v', 'f') AND c.oid > 16383),
				pg_catalog.current_setting('temp_file_limit') = '-1'`,
	}
	if stamps {
		texts = append(texts, stampText+"c.relkind IN ('r', 'p', 'v', 'm', 'f')")
	}
	return texts
}
