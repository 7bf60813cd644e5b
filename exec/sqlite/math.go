package sqlite

import (
	"math"
	"strconv"
	"strings"
)

// Math passes the mathematical functions of SQLite to register by name. It is for a program whose driver was built
// without them, as github.com/mattn/go-sqlite3 is without the build tag sqlite_math_functions. They are Go functions
// that accept and return the driver's values. The ConnectHook of that driver registers each:
//
//	sql.Register("sqlite3_math", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
//		return sqlite.Math(func(name string, f any) error { return c.RegisterFunc(name, f, true) })
//	}})
//
// They return the same values as SQLite's own: NULL for NULL, for a text that is not a number, and outside of the
// domain of a function. A statement may call them under Dialect{Math: true}. Math calls register in the order of the
// names and returns its first error.
func Math(register func(name string, f any) error) error {
	for _, name := range strings.Fields(mathFunctions) {
		if err := register(name, mathOf(name)); err != nil {
			return err
		}
	}
	return nil
}

const mathFunctions = `acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
radians sin sinh sqrt tan tanh trunc`

// mathOf is the function of a name in mathFunctions.
func mathOf(name string) any {
	switch name {
	case "pi":
		return func() float64 { return math.Pi }
	case "log":
		return func(args ...any) any {
			switch len(args) {
			case 1:
				return one(log10, args[0])
			case 2:
				return two(func(base, x float64) float64 { return math.Log(positive(x)) / positive(math.Log(base)) }, args[0],
					args[1])
			}
			return nil
		}
	case "atan2":
		return func(y, x any) any { return two(math.Atan2, y, x) }
	case "mod":
		return func(x, y any) any { return two(math.Mod, x, y) }
	case "pow", "power":
		return func(x, y any) any { return two(math.Pow, x, y) }
	case "ceil", "ceiling", "floor", "trunc":
		return func(x any) any {
			if n, ok := numeric(x).(int64); ok {
				return n
			}
			return one(unary[name], x)
		}
	}
	return func(x any) any { return one(unary[name], x) }
}

var unary = map[string]func(float64) float64{
	"acos": math.Acos, "acosh": math.Acosh, "asin": math.Asin, "asinh": math.Asinh, "atan": math.Atan, "atanh": math.Atanh,
	"ceil": math.Ceil, "ceiling": math.Ceil, "cos": math.Cos, "cosh": math.Cosh, "exp": math.Exp, "floor": math.Floor,
	"sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh, "trunc": math.Trunc,
	"degrees": func(x float64) float64 { return x * (180 / math.Pi) },
	"radians": func(x float64) float64 { return x * (math.Pi / 180) },
	"ln":      func(x float64) float64 { return math.Log(positive(x)) },
	"log2":    func(x float64) float64 { return math.Log2(positive(x)) },
	"log10":   log10,
}

// log10 is exact for powers of ten, which math.Log10 is not.
func log10(x float64) float64 {
	log := math.Log10(positive(x))
	if whole := math.Round(log); math.Abs(whole) < 300 && math.Pow10(int(whole)) == x {
		return whole
	}
	return log
}

// positive is NaN for what has no logarithm, and x otherwise.
func positive(x float64) float64 {
	if x <= 0 {
		return math.NaN()
	}
	return x
}

// one calls f with a number. No number, and NaN, are NULL.
func one(f func(float64) float64, x any) any {
	return two(func(x, _ float64) float64 { return f(x) }, x, 0.0)
}

func two(f func(a, b float64) float64, a, b any) any {
	x, ok := float(a)
	y, alsoOK := float(b)
	if v := f(x, y); ok && alsoOK && !math.IsNaN(v) {
		return v
	}
	return nil
}

func float(v any) (float64, bool) {
	switch v := numeric(v).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// numeric is a value as the number that it is, or that its text is; anything else comes back as it is.
func numeric(v any) any {
	text, ok := v.(string)
	if !ok || strings.Trim(text, " \t\n\v\f\r+-.0123456789eE") != "" { // Go reads more: 0x1, 1_0, Inf
		return v
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil || math.IsInf(f, 0) {
		return f
	}
	return v
}
