// Package egtts has the prompts, the look-ups and the plan signatures of galah92/egtts that several packages use.
package egtts
