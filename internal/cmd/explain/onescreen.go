package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// The blocks of a record may take so many lines of such a width in all, so that what many
// results come to stays within a long screen; narrower lines are as many more.
const (
	blockLines = 50
	blockWidth = 80
)

// printFitting writes blocks in their order: those in full for which there is room, the
// ones first from which most is to be won, and of each other its results and their cause.
func printFitting(con *console.Console, blocks [][]record.Finding, inFull func([]record.Finding) string) {
	short, text := make([]string, len(blocks)), make([]string, len(blocks))
	left := blockLines * blockWidth / min(max(con.Width(), blockWidth/2), blockWidth)
	byGain := make([]int, len(blocks))
	for i, block := range blocks {
		byGain[i] = i
		for _, line := range headlines(block) {
			short[i] += console.Wrapped("", fmt.Sprintf("%s: %s, %.0f %%", line, block[0].Cause, 100*block[0].Confidence), con.Width())
		}
		left -= strings.Count(short[i], "\n")
	}
	slices.SortStableFunc(byGain, func(a, b int) int { return cmp.Compare(gain(blocks[b]), gain(blocks[a])) })
	for n, i := range byGain {
		full := inFull(blocks[i])
		if more := strings.Count(full, "\n") + 1 - strings.Count(short[i], "\n"); n == 0 || more <= left {
			text[i], left = full, left-more
		}
	}
	for i, full := range text {
		if i > 0 && (full != "" || text[i-1] != "") {
			fmt.Fprintln(con.Stdout)
		}
		fmt.Fprint(con.Stdout, cmp.Or(full, short[i]))
	}
}

// gain is how many times its rate the best of a block's results may reach.
func gain(block []record.Finding) (most float64) {
	for _, f := range block {
		if f.Rate > 0 {
			most = max(most, float64(f.Expected/f.Rate))
		}
	}
	return most
}
