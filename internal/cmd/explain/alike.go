package explain

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// numbers are what differs between results that are explained alike.
var numbers = regexp.MustCompile(`[0-9][0-9.,]*( [kMGT]?(bit/s|iB|B|us|ms|s))?`)

// alike groups findings of one pair and phase with the same cause, the same words
// and the same remedy, whatever the figures in them, in the order of the first of each.
func alike(findings []record.Finding) (groups [][]record.Finding) {
	type key struct {
		phase                            record.Phase
		from, to, summary, remedy, cause string
	}
	at := make(map[key]int)
	for _, f := range findings {
		k := key{f.Phase, f.From, f.To, words(f.Summary), words(f.Remedy), string(f.Cause)}
		if n, ok := at[k]; ok {
			groups[n] = append(groups[n], f)
			continue
		}
		at[k] = len(groups)
		groups = append(groups, []record.Finding{f})
	}
	return groups
}

// words are a text without its figures, and with one word for one and for several.
func words(text string) string {
	text = numbers.ReplaceAllString(text, "#")
	return strings.NewReplacer("streams", "stream", "Both ", "All # ", "links", "link").Replace(text)
}

// headlines are which results a block is of: a line for each direction.
func headlines(block []record.Finding) (lines []string) {
	if len(block) == 1 {
		return []string{headline(block[0])}
	}
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		var each []string
		for _, f := range block {
			if f.Direction == d {
				each = append(each, unit.Counted(f.Streams, "stream")+" "+rateOf(f))
			}
		}
		if len(each) > 0 {
			lines = append(lines, fmt.Sprintf("%s%s to %s, %s: %s", phaseOf(block[0]), block[0].From, block[0].To, d, strings.Join(each, ", ")))
		}
	}
	return lines
}
