package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/textlayout"
	"github.com/linerate/linerate/unit"
)

// Text is the plan for a person to read before it is carried out: every step
// with what traffic feels of it, who wants it and why, and the command that
// would do the same; then how it is undone, what is written and what is left.
// One sysctl of several links is one entry with the numbers of its steps. It is
// width columns wide, save for a command's single words.
func (p Plan) Text(width int) string {
	var b strings.Builder
	put := func(lines []string) { b.WriteString(strings.Join(lines, "\n") + "\n") }
	hang := func(head, indent, text string) { put(textlayout.Wrap(head, indent, text, width)) }
	host := p.Host
	if host == "" {
		host = "this host"
	}
	if len(p.Steps) == 0 {
		fmt.Fprintf(&b, "%s: nothing to change\n", host)
	} else {
		worst := p.Worst()
		hang("", "  ", fmt.Sprintf("%s: %s, worst effect: %s (%s)", host, unit.Counted(len(p.Steps), "step"), worst.Meaning(), worst))
	}
	said := map[string]int{} // the step that a reason was first given with
	for _, group := range Together(p.Steps) {
		s, number := p.Steps[group[0]], group[0]+1
		hang(fmt.Sprintf("%3d. %-9s  ", number, s.Disruption), strings.Repeat(" ", 18), ChangeTogether(p.Steps, group))
		indent := strings.Repeat(" ", 16)
		if len(group) > 1 {
			hang(indent+"also: ", indent+"     ", numbers(group[1:]))
		}
		if why := reason(s); why != "" {
			if first := said[why]; first > 0 && len(why) > shortReason {
				why = fmt.Sprintf("as step %d", first)
			} else {
				said[why] = number
			}
			hang(indent+"why: ", indent+"     ", why)
		}
		if len(s.Ready) > 0 {
			hang(indent+"then waits for: ", indent+"     ", strings.Join(s.Ready, " "))
		}
		put(textlayout.Command(indent, indent+"  ", commandTogether(p.Steps, group), width))
	}
	switch n := len(p.Steps); {
	case n == 1:
		b.WriteString("rollback: the same step backwards\n")
	case n > 1:
		fmt.Fprintf(&b, "rollback: the same %d steps backwards, the last one first\n", n)
	}
	for _, f := range p.Files {
		will := "will be saved to "
		if f.New == nil {
			will = "will be removed: "
		}
		hang("", "  ", will+f.Path+", once the change is confirmed")
	}
	for _, l := range p.Left {
		hang("not changed: ", "  ", l)
	}
	return b.String()
}

// shortReason is how long a reason may be to be given again and again.
const shortReason = 60

// reason is why a step is there and who wants it; "" nobody said.
func reason(s Step) string {
	if s.By != "" && s.Why != "" {
		return s.Why + " (" + s.By + ")"
	}
	return s.Why + s.By
}

// numbers are steps by the numbers that people count them with.
func numbers(indices []int) string {
	words := make([]string, len(indices))
	for i, index := range indices {
		words[i] = strconv.Itoa(index + 1)
	}
	if len(words) == 1 {
		return "step " + words[0]
	}
	return "steps " + strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
