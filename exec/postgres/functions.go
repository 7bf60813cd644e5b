package postgres

import (
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
)

// safeFunctions are the functions of pg_catalog, and of the extensions that come with the server, that a statement may
// call. They read only their arguments, change nothing, and make no value much larger than what they are given. The
// last is why array_fill, factorial and all that makes XML are missing. xpath takes a path of plain steps (see
// plainPath), which finds no part of a document twice. current_database, current_schema and pg_typeof tell what the
// schema tells. crypt of pgcrypto takes as long as its argument says, and crosstab of tablefunc runs a text.
const safeFunctions = `
abbrev abs acos acosd acosh age akeys any_value area array_agg array_append array_cat array_dims array_length
array_lower array_ndims array_position array_positions array_prepend array_remove array_replace array_reverse
array_sample array_shuffle array_sort array_to_json array_to_string array_to_tsvector array_upper ascii asin asind
asinh atan atan2 atan2d atand atanh avals avg bit bit_and bit_count bit_length bit_or bit_xor bool bool_and bool_or
bound_box box bpchar broadcast btrim cardinality casefold cash_words cbrt ceil ceiling center char_length
character_length chr cidr circle clock_timestamp concat concat_ws convert_from convert_to corr cos cosd cosh cot cotd
count covar_pop covar_samp crc32 crc32c cube current_catalog current_database current_schema cube_contained cube_contains cube_dim cube_distance cube_enlarge
cube_inter cube_is_point cube_ll_coord cube_overlap cube_subset cube_union cube_ur_coord cume_dist daitch_mokotoff
date date_add date_bin date_part date_subtract date_trunc datemultirange daterange decode defined degrees dense_rank
diagonal diameter difference digest div dmetaphone dmetaphone_alt each earth earth_box earth_distance encode
enum_first enum_last enum_range erf erfc every exist exists_all exists_any exp extract family first_value float4
float8 floor format gamma gc_to_sec gcd gen_random_uuid generate_series generate_subscripts geo_distance get_bit
get_byte get_current_ts_config height hmac host hostmask hstore hstore_to_array hstore_to_json hstore_to_json_loose
hstore_to_jsonb hstore_to_jsonb_loose hstore_to_matrix icount idx inet_merge inet_same_family initcap int2 int4
int4multirange int4range int8 int8multirange int8range interval intset is_normalized is_valid isclosed isempty
isfinite ishorizontal isopen isparallel isperp isvertical json_agg json_array_elements json_array_elements_text
json_array_length json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text
json_object json_object_agg json_object_keys json_strip_nulls json_to_record json_to_recordset json_to_tsvector
json_typeof jsonb_agg jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
jsonb_build_object jsonb_each jsonb_each_text jsonb_exists jsonb_extract_path jsonb_extract_path_text jsonb_insert
jsonb_object jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match
jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
jsonb_path_query_first_tz jsonb_path_query_tz jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record
jsonb_to_recordset jsonb_to_tsvector jsonb_typeof justify_days justify_hours justify_interval lag last_value latitude
lca lcm lead left length levenshtein levenshtein_less_equal lgamma like_escape line ll_to_earth ln log log10 longitude
lower lower_inc lower_inf lpad lseg ltree2text ltrim macaddr8_set7bit make_date make_interval make_time make_timestamp
make_timestamptz make_valid masklen max md5 metaphone min min_scale mod mode money multirange netmask network nlevel
normalize notlike now npoints nth_value ntile num_nonnulls num_nulls numeric nummultirange numnode numrange
octet_length overlaps overlay parse_ident path pclose percent_rank percentile_cont percentile_disc pg_size_bytes
pg_size_pretty pg_typeof phraseto_tsquery pi plainto_tsquery point polygon popen position pow power querytree quote_ident
quote_literal quote_nullable radians radius random random_normal range_agg range_intersect_agg range_merge rank
regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
regr_syy repeat replace reverse right round row_number row_to_json rpad rtrim scale sec_to_gc seg_center seg_lower
seg_upper set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 show_trgm sign similar_to_escape
similarity sin sind sinh skeys slice slope sort sort_asc sort_desc soundex split_part sqrt starts_with
statement_timestamp stddev stddev_pop stddev_samp strict_word_similarity string_agg string_to_array string_to_table
strip strpos subarray subltree subpath substr substring sum svals tan tand tanh text text2ltree time timeofday
timestamp timestamptz timetz timezone to_ascii to_bin to_char to_date to_hex to_json to_jsonb to_number to_oct
to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim_array trim_scale trunc ts_delete ts_filter
ts_headline ts_lexize ts_rank ts_rank_cd tsmultirange tsquery_phrase tsrange tstzmultirange tstzrange
tsvector_to_array unaccent unicode_assigned uniq unistr unnest upper upper_inc upper_inf uuid_extract_timestamp
uuid_extract_version uuid_generate_v3 uuid_generate_v4 uuid_generate_v5 uuid_nil uuid_ns_dns uuid_ns_oid uuid_ns_url
uuid_ns_x500 uuidv4 uuidv7 var_pop var_samp varbit varchar variance websearch_to_tsquery width width_bucket
word_similarity xpath xpath_exists`

// safeTypes are the types of pg_catalog that a value may be cast to. No name of an object (reg*), no cursor, no row.
const safeTypes = `
bit bool bpchar bytea char date daterange float4 float8 int2 int4 int8 int4range int8range numrange tsrange tstzrange inet cidr
macaddr interval json jsonb jsonpath name numeric money text time timetz timestamp timestamptz tsquery tsvector uuid varbit
varchar point box circle line lseg path polygon macaddr8 int4multirange int8multirange nummultirange datemultirange tsmultirange
tstzmultirange oid xml`

// clocks move while a statement runs, or between the statements of one transaction.
var clocks = guard.Set("clock_timestamp timeofday uuidv7 statement_timestamp")

var (
	listedFunctions = guard.Set(safeFunctions)
	listedTypes     = guard.Set(safeTypes)
)

// function is what the guard knows of all functions of one name that a statement reaches without a schema.
type function struct {
	builtin  bool     // pg_catalog has one
	user     bool     // a schema of the path has one that belongs to no extension
	row      bool     // one may have a single argument, so that value.name calls it
	strict   bool     // and that one is not an immutable one of pg_catalog
	compared bool     // one has to do with a type that an operator class of a user compares
	takes    []uint32 // the types of what those of users take; 0: it may be others too
}

// operator is what the guard knows of the operators of users with one symbol.
type operator struct {
	calls string   // the function of one
	takes []uint32 // the types of what they stand between; 0: they may be others too
}

func (r *reading) readFunctions() {
	for _, row := range r.results[readFunctions] {
		name, builtin, extension := row[0], row[1] == "pg_catalog", row.is(2)
		if !builtin && !r.onPath(row[1]) {
			continue
		}
		f := r.functions[name]
		f.builtin = f.builtin || builtin
		f.row = f.row || row.is(3)
		f.strict = f.strict || row.is(4) || row.is(3) && !builtin
		f.compared = f.compared || row.is(5)
		if !builtin && !extension {
			f.user = true
			for id := range strings.FieldsSeq(row[6]) {
				f.takes = append(f.takes, oidOf(id))
			}
		}
		r.functions[name] = f
	}
	for _, row := range r.results[readOperators] {
		if symbol := row[0]; r.onPath(row[1]) && !r.allows(row[2]) {
			o := r.operators[symbol]
			o.calls = row[2]
			for _, id := range []uint32{row.oid(3), row.oid(4)} { // 0: it stands before its operand
				if id != 0 {
					o.takes = append(o.takes, id)
				}
			}
			if !row.is(5) { // no operator of the engine has this name
				o.takes = append(o.takes, 0)
			}
			r.operators[symbol] = o
		}
	}
}

// unlisted writes a function that may not be called.
func unlisted(name string) string {
	return "the function " + name + ", which is not allowed here"
}

// called refuses the function called name, in schema where one is written. absent says that nobody has one; takes are
// types that must not be in the statement, or err holds.
func (c *catalog) called(schemaName, name string) (absent bool, takes []uint32, err error) {
	f, known := c.functions[name]
	switch {
	case c.allows(name):
	case c.scoped && clocks[name]:
		return false, nil,
			guard.Refuse("function", "under rules about rows the function %s tells how long hidden rows took: write now()", name)
	case schemaName != "" && schemaName != "pg_catalog" || !listedFunctions[name] && known:
		return false, nil, guard.Refuse("function", "%s is not allowed here", qualified(schemaName, name))
	case !known && !listedFunctions[name]:
		if t := c.typeNamed(name); t != nil && schemaName == "" {
			_, err := c.typed([]string{name})
			return false, nil, err
		}
		return true, nil, nil
	case f.compared:
		return false, nil, guard.Refuse("function", "the function %s has a type that is compared by a function of a user",
			name)
	case schemaName == "" && f.user:
		if !f.builtin {
			f.takes = nil
		}
		return false, f.takes, guard.Refuse("function",
			"%s is not allowed here: the database has one of its own, so write pg_catalog.%[1]s", name)
	}
	return false, nil, nil
}

// comparisons are the symbols of which the engine has one between two rows, so that no row is made another type for
// them.
var comparisons = []string{"=", "<>", "<", "<=", ">", ">="}

// apart reports whether values have to be of one of these types to be an argument, so that where no such value is, only
// the engine's own function or operator can be meant. symbol is that of an operator.
func (c *catalog) apart(takes []uint32, symbol string) bool {
	return len(takes) > 0 && !slices.ContainsFunc(takes, func(id uint32) bool {
		t := c.types[id]
		return t == nil || !t.apart || t.kind == "c" && !slices.Contains(comparisons, symbol)
	})
}

// hidden reports whether name behind a dot may call a function that is not on the list, and whether that function is
// not harmless.
func (c *catalog) hidden(name string) (calls, strict bool) {
	f := c.functions[name]
	switch {
	case c.allows(name):
		return false, false
	case f.row && (f.user || f.compared || !listedFunctions[name]):
		return true, f.strict
	}
	t := c.typeNamed(name)
	return t != nil && t.refusal != "", c.typeNames["pg_catalog"][name] == nil
}

// allows reports whether the policy has a function on its list.
func (c *catalog) allows(name string) bool { return c.allowed[schema.FoldCase(name)] }

func qualified(schemaName, name string) string {
	if schemaName == "" {
		return name
	}
	return schemaName + "." + name
}

// firstUser is the first OID that the engine itself does not use.
const firstUser = 16384

// typ is a type.
type typ struct {
	name      string
	kind      string   // of pg_type: b base or array, c row, d domain, e enumeration, m multirange, r range
	category  string   // "A" is an array
	of        uint32   // the base of a domain, the element of an array, the subtype of a range
	relation  uint32   // of a row
	parts     []uint32 // of, and the attributes of a row
	own       bool     // of the engine's schema
	extension bool
	io        string // the function of a user that reads or writes its values

	base, labels, comment string // what the schema tells: of a domain, of an enumeration, of both

	refusal string // why a value may not be cast to it; "": it may
	apart   bool   // only a value that is of this type, or untyped, can be an argument of this type
}

func (r *reading) readTypes() {
	for _, row := range r.results[readTypes] {
		t := &typ{
			name: row[2], kind: row[3], category: row[4], relation: row.oid(6), of: row.oid(7), own: row[1] == "pg_catalog",
			extension: row.is(8), base: row[9], labels: row[10], comment: row[11], io: row[12],
		}
		if t.of != 0 {
			t.parts = []uint32{t.of}
		}
		t.apart = row.oid(0) >= firstUser && !row.is(5) && slices.Contains([]string{"b", "c", "e", "m", "r"}, t.kind)
		r.types[row.oid(0)] = t
		if t.kind == "c" || row[1] == "information_schema" {
			continue
		}
		if r.typeNames[row[1]] == nil {
			r.typeNames[row[1]] = map[string]*typ{}
		}
		r.typeNames[row[1]][t.name] = t
	}
	for _, row := range r.results[readCasts] {
		if t := r.types[row.oid(1)]; t != nil && row.is(2) {
			t.apart = false
		}
	}
	for _, t := range r.types {
		if of := r.types[t.of]; t.category == "A" && (of == nil || of.kind == "c" || !of.apart) {
			t.apart = false
		}
	}
}

// within returns a type and all types of which its values may hold one.
func (c *catalog) within(oid uint32) map[uint32]bool {
	found := map[uint32]bool{}
	var add func(oid uint32)
	add = func(oid uint32) {
		if found[oid] {
			return
		}
		found[oid] = true
		if t := c.types[oid]; t != nil {
			for _, part := range t.parts {
				add(part)
			}
		}
	}
	add(oid)
	return found
}

// inside is within, in order. It is found once a type.
func (r *reading) inside(oid uint32) []uint32 {
	if r.parts[oid] == nil {
		r.parts[oid] = slices.Sorted(maps.Keys(r.within(oid)))
	}
	return r.parts[oid]
}

// judgeTypes decides to which types a statement may cast. One of a user is a type to cast to if it is an enumeration,
// belongs to an extension, or is a domain over such a type whose CHECK calls nothing that is not on the list: the
// engine runs a CHECK with every cast. checks are what CHECKs do that they may not, and casts the types in them.
func (r *reading) judgeTypes(checks map[uint32]string, uses map[uint32][]uint32) {
	casts := map[uint32]string{} // functions of users' casts
	for _, row := range r.results[readCasts] {
		if row[3] != "" && !r.allows(row[3]) {
			casts[row.oid(1)] = row[3]
			if row.is(2) && row.oid(1) < firstUser {
				casts[row.oid(0)] = row[3]
			}
		}
	}
	var refusal func(oid uint32, depth int) string
	refusal = func(oid uint32, depth int) string {
		t := r.types[oid]
		switch {
		case t == nil || depth > 100:
			return "is not on the list"
		case casts[oid] != "":
			return "is cast by " + unlisted(casts[oid])
		case checks[oid] != "":
			return "has a CHECK that " + checks[oid]
		case slices.ContainsFunc(uses[oid], func(used uint32) bool { return refusal(used, depth+1) != "" }):
			return "has a CHECK with a type that is not on the list"
		case t.kind == "d" || t.of != 0 && t.category == "A":
			return refusal(t.of, depth+1)
		case t.own && !listedTypes[t.name] || !t.own && t.kind != "e" && (t.kind != "b" || !t.extension):
			return "is not on the list"
		}
		return ""
	}
	for oid, t := range r.types {
		t.refusal = refusal(oid, 0)
	}
}

// typeNamed looks for a type as the engine does for a name without a schema; nil where there is none.
func (c *catalog) typeNamed(name string) *typ {
	for _, s := range c.search {
		if t := c.typeNames[s][name]; t != nil {
			return t
		}
	}
	return nil
}

// typed refuses a cast to a type that is not on the list. A type that does not exist is the engine's to tell: nothing
// is called.
func (c *catalog) typed(parts []string) (*typ, error) {
	var t *typ
	switch len(parts) {
	case 1:
		t = c.typeNamed(parts[0])
	case 2:
		t = c.typeNames[parts[0]][parts[1]]
	}
	refusal := "is not on the list"
	if t != nil {
		refusal = t.refusal
	}
	if refusal == "" {
		return t, nil
	}
	return nil, guard.Refuse("function", "the type %s %s", parts[len(parts)-1], refusal)
}
