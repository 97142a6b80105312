package saidtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// What people call a line to the Internet by: both its rates in one word (500/20 Mbit/s), or
// each with its direction.
var (
	planWord = piece.Compile(`(?i)\b(\d{2,4})(?: ?m(?:b(?:it)?(?:ps|/s)?)?)? ?/ ?(\d{1,4}) ?(?:m(?:b(?:it)?(?:ps|/s)?)?(?:\W|$)|(?:internet|fib\w*|lines?|connection|plan|coax|cable|v?dsl)\b)`)
	planTwo  = piece.Compile(`(?i)\b(\d{2,4}) ?m(?:b(?:it)?(?:ps|/s)?)? ?(?:down(?:load|stream)?|dl)\b[^.;\d]{0,16}(\d{1,4}) ?m(?:b(?:it)?(?:ps|/s)?)? ?(?:up(?:load|stream)?|ul)\b`)
	planLine = piece.Compile(`(?i)\b(?:internet|lines?|connections?|isp|fib\w*|[av]?dsl|cable|coax|plan|wan|broadband|home|upload|download|speed ?tests?|up|provider)\b`)
)

// leastDown is how much more than it sends a line receives for its two ways to differ.
const leastDown = 1.5

// plan notes what a line of the Internet sends and receives (line_up_bps, line_down_bps), and
// that several lines are told of (lines_differ).
func (t *teller) plan(text string) {
	parts := planWord.FindStringSubmatch(text)
	if parts == nil {
		parts = planTwo.FindStringSubmatch(text)
	}
	if parts == nil || !planLine.MatchString(text) {
		return
	}
	down, up := 1e6*piece.Float(parts[1]), 1e6*piece.Float(parts[2])
	if up == 0 || down < leastDown*up {
		return
	}
	if was := t.bits("line_up_bps"); was > 0 && was != up {
		t.set("lines_differ", parts[0])
		return
	}
	t.set("line_up_bps", whole(up))
	t.set("line_down_bps", whole(down))
}
