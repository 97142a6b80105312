package explain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// numbers are what differs between results that are explained alike.
var numbers = regexp.MustCompile(`[0-9][0-9.,]*( [kMGT]?(bit/s|iB|B|us|ms|s))?`)

// alike groups findings of one pair and phase with the same cause, the same words
// and the same remedy, whatever the figures in them and whichever of the two hosts
// they are about, in the order of the first of each.
func alike(findings []record.Finding) (groups [][]record.Finding) {
	type key struct {
		phase                 record.Phase
		from, to, text, cause string
	}
	at := make(map[key]int)
	for _, f := range findings {
		names := namesOf(f)
		k := key{f.Phase, f.From, f.To, words(inOrder(f.Summary, names)) + "\n" + remedyOf(f, names), string(f.Cause)}
		if n, ok := at[k]; ok {
			groups[n] = append(groups[n], f)
			continue
		}
		at[k] = len(groups)
		groups = append(groups, []record.Finding{f})
	}
	return groups
}

// remedyOf is what a finding has done, whichever of the two hosts does it: what one
// direction asks of its sender and both ask of each is one remedy.
func remedyOf(f record.Finding, names *regexp.Regexp) string {
	var steps []string
	for _, step := range stepsOf(f) {
		steps = append(steps, words(inOrder(step, names)))
	}
	slices.Sort(steps)
	return strings.Join(slices.Compact(steps), "\n")
}

// stepsOf are the steps of a finding's remedy in words, or all of it where it has none.
func stepsOf(f record.Finding) (steps []string) {
	for _, way := range f.Ways {
		for _, step := range way {
			steps = append(steps, record.Do(step).Text())
		}
	}
	if steps == nil {
		return []string{f.Remedy}
	}
	return steps
}

// words are a text without its figures, and with one word for one and for several.
func words(text string) string {
	text = numbers.ReplaceAllString(text, "#")
	return strings.NewReplacer("streams", "stream", "Both ", "All # ", "links", "link").Replace(text)
}

// inOrder is a text with two hosts called by the order in which it names them: what
// is said of each side alike is one text.
func inOrder(text string, names *regexp.Regexp) string {
	var order []string
	return renamed(text, names, func(name string) string {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		return []string{"<first>", "<second>"}[slices.Index(order, name)]
	})
}

// namesOf finds the names of a finding's two hosts; nil where it is not about two.
func namesOf(f record.Finding) *regexp.Regexp {
	names, err := regexp.Compile(`\b(?:` + regexp.QuoteMeta(f.From) + `|` + regexp.QuoteMeta(f.To) + `)\b`)
	if err != nil || f.From == "" || f.To == "" {
		return nil
	}
	return names
}

// renamed is a text with each of two hosts' names replaced.
func renamed(text string, names *regexp.Regexp, by func(name string) string) string {
	if names == nil {
		return text
	}
	return names.ReplaceAllStringFunc(text, by)
}

// otherRemedies are the findings of a block whose remedy has steps that none before
// has, one for each.
func otherRemedies(block []record.Finding) (out []record.Finding) {
	seen := map[string]bool{}
	for i, f := range block {
		more, names := false, namesOf(f)
		for _, step := range stepsOf(f) {
			step = words(renamed(step, names, func(name string) string {
				return map[string]string{f.From: "<from>", f.To: "<to>"}[name]
			}))
			more = more || !seen[step]
			seen[step] = true
		}
		if more && i > 0 && f.Remedy != "" {
			out = append(out, f)
		}
	}
	return out
}

// headlines are which results a block is of: a line for each direction.
func headlines(block []record.Finding) (lines []string) {
	if len(block) == 1 {
		return []string{headline(block[0])}
	}
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		var each []string
		for i, f := range block {
			same := func(o record.Finding) bool { return o.Direction == d && o.Streams == f.Streams }
			if f.Direction == d && !slices.ContainsFunc(block[:i], same) {
				each = append(each, unit.Counted(f.Streams, "stream")+" "+rangeOf(slices.DeleteFunc(slices.Clone(block[i:]), func(o record.Finding) bool { return !same(o) })))
			}
		}
		for i := range len(each) - 1 { // one ceiling is said once, at the end
			if _, last, _ := strings.Cut(each[len(each)-1], " of "); last != "" {
				each[i] = strings.TrimSuffix(each[i], " of "+last)
			}
		}
		if len(each) > 0 {
			lines = append(lines, fmt.Sprintf("%s%s to %s, %s: %s", phaseOf(block[0]), block[0].From, block[0].To, d, strings.Join(each, ", ")))
		}
	}
	return lines
}

// rangeOf are the rates of results of one direction and number of streams.
func rangeOf(all []record.Finding) string {
	low, high := all[0], all[0]
	for _, f := range all {
		if f.Rate < low.Rate {
			low = f
		}
		if f.Rate > high.Rate {
			high = f
		}
	}
	if len(all) == 1 {
		return rateOf(high)
	}
	low.Ceiling = 0
	return fmt.Sprintf("%d times %s to %s", len(all), rateOf(low), rateOf(high))
}
