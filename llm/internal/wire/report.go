package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// This file reads what a server says of a failure: in a failed response, or in one whose status is a success. Statuses
// and documented codes come first. Words count where servers have nothing else, outside of quotation marks, since what
// stands within them may be a prompt.

// problem is what a server says of a failure.
type problem struct {
	message    string
	codes      []string      // code, type, and what Google has in their place
	status     int           // of the body, as gateways put that of another server there; 0: none
	param      string        // the refused parameter
	retryAfter time.Duration // Google's
}

// report returns what the server said of a failure, and its status: of the response, or, where that is a success, of
// the body, 0 if it has none. ok is false where it reported none.
func (c *Call) report() (status int, p problem, ok bool) {
	o := c.outcome()
	switch {
	case o.status != 0:
		return o.status, parseProblem(o.body), true
	case o.err != nil:
		return 0, problem{}, false
	}
	if p, ok = problemIn(c.Raw()); !ok {
		return 0, problem{}, false
	}
	if p.status == 0 && endpoint.MatchString(p.message) {
		p.status = http.StatusNotFound
	}
	return p.status, p, true
}

// problemIn returns the error that stands in a reply whose status is a success.
func problemIn(body []byte) (problem, bool) {
	var reply map[string]json.RawMessage
	if json.Unmarshal(body, &reply) != nil {
		return problem{}, false
	}
	p := parseProblem(body)
	if present(reply["error"]) || present(reply["errors"]) {
		p.message = cmp.Or(p.message, "the server reports an error without words")
		return p, true
	}
	for _, key := range []string{"choices", "candidates", "content", "data", "message"} {
		var within []map[string]json.RawMessage
		switch {
		case !present(reply[key]) && string(reply[key]) != "[]":
		case json.Unmarshal(reply[key], &within) == nil && len(within) > 0 && present(within[0]["error"]):
			return parseProblem(append([]byte(`{"error":`), append(within[0]["error"], '}')...)), true
		case key != "message" || reply[key][0] != '"':
			return problem{}, false
		}
	}
	return p, p.message != ""
}

// present reports whether a field of JSON holds something.
func present(raw json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "{}", "[]", `""`, "false"}, string(bytes.TrimSpace(raw)))
}

// parseProblem reads the forms of OpenAI, Anthropic and Google ({"error": {…}}, also in a list), Ollama ({"error":
// "…"}), vLLM ({…}), FastAPI ({"detail": "…"}), Cloudflare ({"errors": [{…}]}), MiniMax ({"base_resp": {…}}) and
// OpenRouter, with the words of the server behind it. Without a message the code is one, or the type. Of a page the
// title is the message, any other text is one itself; JSON of another form has none.
func parseProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer, p map[string]json.RawMessage
	switch err := json.Unmarshal(body, &outer); {
	case err != nil && isPage(body):
		return problem{message: "the server sent " + page(body)}
	case err != nil && !json.Valid(body):
		return problem{message: string(body)}
	}
	inner := json.RawMessage(body)
	for _, key := range []string{"base_resp", "errors", "error"} {
		if present(outer[key]) {
			inner = outer[key]
		}
	}
	if json.Unmarshal(inner, &list) == nil && len(list) > 0 {
		inner = list[0]
	}
	json.Unmarshal(inner, &p) // a text is no object, and read below
	found := problem{
		message: cmp.Or(wordsIn(inner, 0), wordsIn(body, 0), str(p["code"]), str(p["type"])), param: str(p["param"]),
		codes:  []string{str(p["code"]), str(p["type"]), str(p["status"]), str(outer["code"])},
		status: cmp.Or(statusIn(p), statusIn(outer)),
	}
	if found.param == "None" { // of Python
		found.param = ""
	}
	var more struct {
		Details  []struct{ Reason, RetryDelay string }
		Metadata struct{ Raw string }
	}
	json.Unmarshal(inner, &more) // another form has neither
	if more.Metadata.Raw != "" {
		behind := parseProblem([]byte(more.Metadata.Raw))
		found.message, found.codes = found.message+": "+behind.message, append(found.codes, behind.codes...)
	}
	for _, d := range more.Details {
		found.codes = append(found.codes, d.Reason)
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			found.retryAfter = min(max(wait, 0), maxRetryAfter)
		}
	}
	return found
}

// wordsIn returns the message of an error, wherever servers put it.
func wordsIn(raw json.RawMessage, depth int) string {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case depth > 4:
	case json.Unmarshal(raw, &list) == nil:
		for _, e := range list {
			if text := wordsIn(e, depth+1); text != "" {
				return text
			}
		}
	case json.Unmarshal(raw, &object) == nil:
		for _, key := range []string{"message", "detail", "msg", "status_msg", "error_description", "error_message", "reason",
			"title", "error"} {
			if text := wordsIn(object[key], depth+1); text != "" {
				return text
			}
		}
	}
	return str(raw)
}

// str returns a text of JSON; "" for anything else.
func str(raw json.RawMessage) (text string) {
	json.Unmarshal(raw, &text)
	return text
}

// statusIn returns the HTTP status that stands in the fields of an error, as a number, a text, or one of the documented
// words.
func statusIn(p map[string]json.RawMessage) int {
	for _, key := range []string{"code", "status", "status_code", "statusCode", "http_status", "httpStatus",
		"error_code"} {
		text := strings.Trim(string(p[key]), `" `)
		if f, err := strconv.ParseFloat(text, 64); err == nil && f >= 400 && f < 600 {
			return int(f)
		}
	}
	for _, key := range []string{"code", "type", "status"} {
		text := strings.ToLower(str(p[key]))
		for _, w := range statusWords {
			if strings.Contains(text, w.word) {
				return w.status
			}
		}
	}
	return 0
}

// statusWords are parts of codes and types that stand for a status.
var statusWords = []struct {
	word   string
	status int
}{
	{"rate_limit", 429}, {"ratelimit", 429}, {"too_many_requests", 429}, {"resource_exhausted", 429}, {"throttl", 429},
	{"insufficient_quota", 429},
	{"overloaded", 529}, {"unavailable", 503}, {"server_error", 500}, {"internal", 500}, {"api_error", 500},
	{"timeout", 504}, {"deadline", 504},
	{"authentication", 401}, {"unauthenticated", 401}, {"unauthorized", 401}, {"invalid_api_key", 401},
	{"billing", 402}, {"insufficient_balance", 402}, {"permission", 403}, {"forbidden", 403}, {"not_found", 404},
	{"notfound", 404},
	{"invalid", 400}, {"badrequest", 400}, {"bad_request", 400},
}

// classify classifies by status and codes, then by words where those of a status do not decide.
func classify(status int, p problem) (class llm.Class, account bool) {
	if status != 0 {
		class = Class(status, p.codes...)
	}
	said := unquoted(p.message)
	switch {
	case class == llm.ClassRefused, class == llm.ClassContextTooLong:
		return class, false
	case status == http.StatusUnauthorized, status == http.StatusNotFound:
		return class, false
	case status == http.StatusPaymentRequired, spentCodes.MatchString(strings.Join(p.codes, " ")):
		return llm.ClassPermanent, true
	case status == http.StatusTooManyRequests && overLimit.MatchString(said):
		return llm.ClassContextTooLong, false
	case status == http.StatusTooManyRequests:
		return class, false
	case status != http.StatusForbidden && tooLong.MatchString(said):
		return llm.ClassContextTooLong, false
	case status < 500 && spent.MatchString(said):
		return llm.ClassPermanent, true
	case status < 500 && held.MatchString(said):
		return llm.ClassRefused, false
	}
	return class, false
}

var (
	// quoted is a text in quotation marks.
	quoted = regexp.MustCompile("(?s)(?:^|[\\s(\\[{=:,])(?:'[^']*'|\"[^\"]*\"|`[^`]*`|“[^”]*”|«[^»]*»)")

	// tooLong is how servers say that a prompt does not fit, in their first clause: a prompt that is repeated stands
	// behind a colon. Sources: the servers of the rows of TestContextWords.
	tooLong = regexp.MustCompile(
		`(?is)^(?:[\w.]*(?:error|exception)\w*: |error code: \d+ - |(?:input validation error|invalid request|bad request|` +
			`provider returned error|the model returned the following errors): |invalid params, |\d+ [a-z_ ]+[.:] |<\d+> )*[^:.]{0,80}?(?:` + strings.Join([]string{
			`(?:max(?:imum)?|model'?s?) (?:allowed )?(?:context|prompt|input|sequence|model) (?:length|window|size)`,
			`context (?:length|window|size|limit).{0,40}exceed`,
			`exceed.{0,40}(?:context|token limit|input length|max_seq_len|max(?:imum)? length)`,
			`(?:prompt|input|context|conversation|request)(?: body)?(?: \([^)]*\))? (?:is )?too (?:long|large)`,
			`you passed \d+ input tokens`, `(?:input|prompt|decoder prompt) \([^)]*\) is longer`,
			`prompt length .{0,20}(?:greater|longer|exceed)`, `too many (?:input |prompt )?tokens`,
			`(?:input|prompt) tokens? (?:count )?.{0,30}exceed`,
			`input token count .{0,40}(?:supports|exceed)`, `requested token count exceeds`, `must have less than \d+ tokens`,
			`tokens \+ .{0,20}must be <=`,
			`context the overflows`, `tokens to keep from the initial prompt`, `n_keep`, `range of input length`,
			`reduce the length of the (?:messages|prompt|input)`,
			`too large for model with`, `max size: \d+ tokens`, `上下文.{0,12}(?:超|长)|(?:输入|prompt).{0,8}超长`,
		}, "|") + `)`)

	// overLimit is how they say that one request has more tokens than a minute allows: waiting does not help.
	overLimit = regexp.MustCompile(`(?i)^request too large\b|tokens must be reduced`)

	// spentCodes and spent are how they say that there is no money, or that a limit is reached which waiting does not
	// lift.
	spentCodes = regexp.MustCompile(
		`(?i)insufficient_(?:quota|balance|credit|funds)|billing|exceeded_current_quota|credit.?exhausted|quota_exceeded|arrear`)
	spent = regexp.MustCompile(
		`(?i)insufficient (?:account )?(?:balance|credit|quota|fund)|credit balance|(?:any|more|of|out of|no) credits|billing|` +
			`exceeded your (?:current|monthly|daily)|(?:key|usage|spend|spending|budget|monthly|total|hard|credit) limit|arrear|account in good standing|` +
			`account is (?:not active|suspended|deactivated)|payment|top up|余额|欠费`)

	// held is how they say that they hold content back.
	held = regexp.MustCompile(
		`(?i)content (?:filter|management|policy|moderation)|moderation|flagged|usage (?:guidelines|polic)|safety (?:check|system|polic)|` +
			`content exists risk|inappropriate content|sensitive (?:content|information|words)|敏感|违规`)

	// endpoint is how a server that answers everything with a success says that it has nothing at a path.
	endpoint = regexp.MustCompile(
		`(?i)(?:unexpected|unknown|invalid|no such|no) (?:endpoint|route|url|path|method)|(?:endpoint|route|url|path|page)\b.{0,40}not (?:found|exist)|` +
			`cannot post|method not allowed|^not found|^404\b`)

	// systemRole is how they say that a model takes no messages of the system.
	systemRole = regexp.MustCompile("(?i)\\b(?:system|developer)['\"`]? " +
		"(?:role|message|prompt|instruction)s?\\b.{0,60}(?:\\bnot\\b|n't\\b|unsupported|disabled|invalid)|" +
		"(?:\\bnot\\b|n't\\b|unsupported|unknown|unexpected|invalid)\\b.{0,40}(?:['\"`](?:system|developer)['\"`]|" +
		"\\b(?:system|developer) (?:role|message|prompt|instruction))|" +
		"roles must alternate|(?:should|must) be ['\"`]?user['\"`]? or " +
		"['\"`]?(?:assistant|model)|only.{0,30}user.{0,10}assistant|role.{0,60}(?:one of|either|should be|must " +
		"be).{0,20}(?:user|assistant)|(?:role|value)s?:? ['\"`]?system['\"`]?$")

	// refusal is a word with which a parameter is refused.
	refusal = regexp.MustCompile(
		`(?i)\b(?:not|cannot|only|must|should|unsupported|invalid|deprecated|unknown|unexpected|extraneous|unrecognized|fixed|allowed|range|` +
			`between|removed|disallowed|ignored|forbidden)\b|n't\b`)
)

// unquoted leaves out what stands in quotation marks and is more than a word: a prompt, or a part of one.
func unquoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if strings.Contains(strings.TrimSpace(q), " ") {
			return ""
		}
		return q
	})
}

// RefusesSystem reports whether the last response refuses messages of the system.
func (c *Call) RefusesSystem() bool {
	status, p, ok := c.report()
	return ok && (status == 0 || status == http.StatusBadRequest || status == http.StatusUnprocessableEntity ||
		status >= 500) &&
		(strings.HasSuffix(p.param, ".role") || p.param == "role" || systemRole.MatchString(p.message))
}

// Names reports whether the last response refuses the parameter of that name: in the field for it, or, from servers
// that have none, at the beginning of the message, as an identifier, or in words, where the prompt does not have that
// word.
func (c *Call) Names(name string) bool {
	status, p, ok := c.report()
	if !ok || status != 0 && status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	if p.param != "" {
		return p.param == name || strings.HasSuffix(p.param, "."+name)
	}
	if strings.HasPrefix(p.message, name+":") || strings.ContainsAny(name, "_ ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
		strings.Contains(p.message, name) {
		return true
	}
	for _, quote := range []string{"'", "`", `"`, `\"`} {
		if strings.Contains(string(c.Raw()), quote+name+quote) {
			return true
		}
	}
	return c.saysOf(name, unquoted(p.message))
}

// saysOf reports whether a message refuses the parameter in words.
func (c *Call) saysOf(name, message string) bool {
	word := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(name) + `\b`)
	if !word.MatchString(message) || !refusal.MatchString(message) {
		return false
	}
	asked := c.outcome().asked
	// some text's, not the parameter
	about := regexp.MustCompile(`(?i:\b` + name + `) (?:of|in|at) \p{Lu}`).MatchString(message)
	if asked != nil && !about && !word.Match(bytes.ReplaceAll(asked, []byte(`"`+name+`":`), nil)) {
		return true
	}
	beside := regexp.MustCompile(
		`(?i)(?:invalid|unsupported|unknown|unrecognized|unexpected|only|supports?|setting|parameters?:?|value (?:of|for)) \(?` + name + `\b|` +
			`\b` + name +
			`\b(?: ?= ?\S+)?(?: parameters?| values?| settings?)?,? (?:is|are|must|should|may|can|cannot|does|not|only|out)\b`)
	return beside.MatchString(message)
}
