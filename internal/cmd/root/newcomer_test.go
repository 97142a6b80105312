package root

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/docpage"
)

// TestNewcomers counts what three new users type and read up to their first useful
// answer, and runs what needs no host. The commands of the others are typed as the page
// has them by the tests that it names, with an sshd and with agents.
func TestNewcomers(t *testing.T) {
	t.Chdir("../../..")
	all := pages(t)
	for _, c := range []struct {
		page, from, to  string
		commands, words int
		test            string
	}{
		{"docs/start.md", "## Two servers", "## Cloud", 2, 250, "internal/lab/labtest/overssh/newcomer_linux_test.go TestNewcomerBySSH"},
		{"docs/start.md", "## Cloud", "## A fleet", 1, 200, ""},
		{"docs/fleet.md", "# A fleet on NATS", "## Roles", 6, 500, "internal/lab/labtest/overssh/newcomer_linux_test.go TestNewcomerWithAFleet"},
	} {
		_, section, found := strings.Cut(all[c.page], c.from)
		section, _, ended := strings.Cut(section, c.to)
		if !found || !ended {
			t.Fatalf("%s has no section from %s to %s", c.page, c.from, c.to)
		}
		lines := 0
		for _, block := range blocksOf(section) {
			for _, line := range strings.Split(block, "\n") {
				if strings.Contains(line, "linerate ") && !strings.HasPrefix(line, "          ") {
					lines++
				}
			}
		}
		if words := len(strings.Fields(section)); lines == 0 || lines > c.commands || words > c.words {
			t.Errorf("%s, %s: %d commands (at most %d), %d words (at most %d)", c.page, c.from, lines, c.commands, words, c.words)
		}
		if c.test != "" {
			testIsThere(t, ".", c.test)
			continue
		}
		blocks := blocksOf(section)
		words := docpage.Commands(section)[0]
		words[len(words)-1] = file(t, words[len(words)-1], blocks[0])
		o := run(t, "", words...)
		if o.status != console.ExitDone || !strings.Contains(o.stdout, "shaper") {
			t.Errorf("%s: exit %d: %s%s", c.from, o.status, o.stdout, o.stderr)
		}
	}
}

// blocksOf are the blocks of code of a text.
func blocksOf(text string) (all []string) {
	for {
		example, before := firstExample(text)
		if len(example) == 0 {
			return all
		}
		all = append(all, strings.Join(example, "\n"))
		rest := strings.Split(text[len(before):], "\n")
		skip := len(example) + 1
		if strings.HasPrefix(strings.TrimLeft(text[len(before):], "\n"), "```") {
			skip += 2
		}
		text = strings.Join(rest[min(skip, len(rest)):], "\n")
	}
}
