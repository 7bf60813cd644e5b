package words

import (
	"regexp"
	"strings"
)

// The marks by which chat templates part turns, in the forms of the common families of models. A tokenizer that takes
// its special tokens from text would see turns of its own in them.
var (
	bars   = strings.NewReplacer("<|", "< |", "|>", "| >", "<｜", "< ｜", "｜>", "｜ >")
	fences = strings.NewReplacer("```", "'''", "~~~", "'''")
	tags   = regexp.MustCompile(
		`(?i)<+(/?(?:s|bos|eos|sys|system|user|assistant|human|model|think|thinking|start_of_turn|end_of_turn|tool_call|tool_response))>+`)
	boxes = regexp.MustCompile(`(?i)\[(/?(?:inst|sys|system_prompt|available_tools|tool_calls|tool_results))\]`)
)

// Inert returns text without the marks by which a prompt or a chat template parts what was said by whom: code fences
// become quotes, and the marks of turns lose their brackets or get a blank inside.
func Inert(text string) string {
	if text = Unbarred(text); strings.Contains(text, "<") {
		text = tags.ReplaceAllString(text, "($1)")
	}
	return Unboxed(text)
}

// Unbarred does the part of [Inert] that SQL survives: no engine has an operator like <|im_start|>.
func Unbarred(text string) string { return bars.Replace(text) }

// Unboxed does the part of [Inert] that is about fences and square brackets. It keeps the number of characters.
func Unboxed(text string) string {
	if text = fences.Replace(text); strings.Contains(text, "[") {
		text = boxes.ReplaceAllString(text, "($1)")
	}
	return text
}
