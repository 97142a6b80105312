package console

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/unit"
)

// FlagError turns the parser's errors into words for people, with the flag or
// the command that was probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	hint := "`" + cmd.CommandPath() + " --help` lists the flags"
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasAvailableSubCommands() {
		return UnknownCommand(cmd, args[0]) // the flags are another command's
	}
	if strings.HasPrefix(err.Error(), "unknown ") {
		var named interface{ GetSpecifiedName() string }
		if errors.As(err, &named) {
			hint = OrMeant(named.GetSpecifiedName(), FlagNames(cmd), "--", hint)
		}
		return BadUsage(err.Error(), hint)
	}
	var invalid interface{ GetValue() string }
	name := flagInError.FindStringSubmatch(err.Error())
	if !errors.As(err, &invalid) || name == nil {
		return BadUsage(err.Error(), hint)
	}
	if f := cmd.Flags().Lookup(name[1]); f != nil {
		if want := wantOf(f.Name, f.Value.Type()); want != "" {
			return BadUsage(fmt.Sprintf("--%s: want %s, not %s", f.Name, want, invalid.GetValue()), "")
		}
	}
	return BadUsage(err.Error(), hint)
}

// flagInError finds the flag that an error of the parser names.
var flagInError = regexp.MustCompile(`for "(?:-., )?--([a-z0-9-]+)" flag`)

// wantOf says in words what a flag of a type takes; "" for types whose own
// errors are words already.
func wantOf(flag, kind string) string {
	switch kind {
	case "uint8":
		return "a number from 0 to 255"
	case "uint16":
		if flag == "vlan" {
			return vlanRange
		}
		return "a number from 0 to 65535"
	case "uint32":
		return "a number from 0 to 4294967295"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a time such as 5s or 500ms"
	case "bool":
		return "true or false"
	}
	return ""
}

// mostVLAN is the last VLAN tag that may be used (IEEE 802.1Q).
const mostVLAN = 4094

const vlanRange = "a number from 0 to 4094"

// CheckVLAN refuses what is no VLAN tag.
func CheckVLAN(tag uint16) error {
	if tag > mostVLAN {
		return BadUsage(fmt.Sprintf("--vlan: want %s, not %d", vlanRange, tag), "")
	}
	return nil
}

// FlagNames are the long names of a command's flags, as its help lists them.
func FlagNames(cmd *cobra.Command) []string {
	var names []string
	for _, m := range flagInHelp.FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
		names = append(names, m[1])
	}
	return names
}

var flagInHelp = regexp.MustCompile(`(?m)^ {2,6}(?:-., )?--([a-z0-9-]+)`)

// OrMeant is the hint that names the words a misspelt one may stand for, or
// else another. Where only digits differ, both: who writes layer5 may mean layer2 or
// layer3+4, host7 any host.
func OrMeant(word string, candidates []string, lead, otherwise string) string {
	// Cobra finds commands that are near; these words become some for it.
	near := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, c := range candidates {
		near.AddCommand(&cobra.Command{Use: c, Run: func(*cobra.Command, []string) {}})
	}
	found := near.SuggestionsFor(word)
	var meant []string
	for _, c := range candidates {
		if slices.Contains(found, c) {
			meant = append(meant, lead+c)
		}
	}
	if len(meant) == 0 || word == "" {
		return otherwise
	}
	hint := "did you mean " + strings.Join(meant, " or ") + "?"
	if otherwise != "" && !slices.ContainsFunc(meant, func(m string) bool { return lettersOf(strings.TrimPrefix(m, lead)) != lettersOf(word) }) {
		hint += " " + otherwise
	}
	return hint
}

// lettersOf is a word without its digits.
func lettersOf(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, word)
}

// lowerCase is a flag for words of which letter case says nothing.
type lowerCase struct{ to *string }

func (l lowerCase) String() string {
	if l.to == nil {
		return ""
	}
	return *l.to
}

func (l lowerCase) Set(s string) error {
	*l.to = strings.ToLower(s)
	return nil
}

// Type is what help calls the value.
func (lowerCase) Type() string { return "string" }

// WordVar adds a flag for words of which letter case says nothing.
func WordVar(c *cobra.Command, to *string, name, value, usage string) {
	*to = value
	c.Flags().Var(lowerCase{to}, name, usage)
}

// spans are the units of a time that histories are counted in.
var spans = map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour}

// SinceHint is how a time is written.
const SinceHint = "such as 30d, 12h or 2026-01-31"

// ParseSince reads how long before now, "30d", or a day or moment; "" is the
// zero time.
func ParseSince(flag, s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	for word, one := range spans {
		number, found := strings.CutSuffix(s, word)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && n >= 0 && n*float64(one) < math.MaxInt64/2 {
			return now.Add(-time.Duration(n * float64(one))), nil
		}
	}
	if d, err := unit.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, BadUsage("--"+flag+": want a time in m, h, d, w or y, or a date, not "+s, SinceHint)
}
