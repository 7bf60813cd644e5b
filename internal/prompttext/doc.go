// Package prompttext writes stored values, comments and names for prompts. A text never ends a fence, a tag or a turn.
package prompttext
