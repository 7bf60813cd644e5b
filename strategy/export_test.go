package strategy

// VerdictCall names the type of Verdict.Calls for tests.
type VerdictCall = verdictCall

// Mend takes the column of a name from the only table that can be meant; "" where several can be.
func Mend(env *Env, sql, name string) string {
	return newMisplaced(env, env.Schema, sql, name).rewritten()
}

// Hint says where the column of a name is.
func Hint(env *Env, sql, name string) string { return newMisplaced(env, env.Schema, sql, name).hint() }

// Respell writes a name as the schema does; "" where several can be meant.
func Respell(env *Env, sql, name string) string { return respelled(env, env.Schema, sql, name) }
