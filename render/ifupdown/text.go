// Package ifupdown reads and writes /etc/network/interfaces, which three programs
// take three ways: ifupdown with ifenslave (Debian), ifupdown2 (Cumulus, Proxmox VE)
// and Proxmox VE's own page (interfaces(5) of ifupdown 0.8.41, ifupdown-addons-
// interfaces(5) of ifupdown2 3.0.0). What they take differently is a warning.
package ifupdown

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Where the files are. The last is what Proxmox VE's page has staged: at the next
// boot it takes the first one's place (pvenetcommit.service).
const (
	Dir       = "/etc/network/"
	mainFile  = Dir + "interfaces"
	sdnFile   = Dir + "interfaces.d/sdn" // Proxmox VE's networks of clusters, written anew by each of their changes
	stagedOne = Dir + "interfaces.new"
)

// line is a line of a file with those that a backslash joins to it.
type line struct {
	number int // of the first, from 1
	last   int
	words  []string // none for a comment or an empty line
	text   string   // as the programs see it
}

// readLines parts a text in lines. A line whose first character but blanks is # is a
// comment; a # further on belongs to the value.
func readLines(text string) []line {
	var all []line
	rows := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	for i := 0; i < len(rows); i++ {
		l := line{number: i + 1, text: rows[i]}
		if !strings.HasPrefix(strings.TrimSpace(l.text), "#") {
			for strings.HasSuffix(l.text, `\`) && i+1 < len(rows) {
				i++
				l.text = strings.TrimSuffix(l.text, `\`) + " " + rows[i]
			}
			l.words = strings.Fields(l.text)
		}
		l.last = i + 1
		all = append(all, l)
	}
	return all
}

// heads are the words that begin a stanza or stand for themselves, and so end the
// stanza before them. All that begins with allow- is one.
var heads = []string{"iface", "auto", "mapping", "no-auto-down", "no-scripts", "rename", "source", "source-dir", "source-directory", "template"}

func isHead(word string) bool {
	return slices.Contains(heads, word) || strings.HasPrefix(word, "allow-")
}

// stanza is an iface stanza.
type stanza struct {
	file           string
	head           line
	name           string // with the number of an alias
	family, method string // "" where left out
	inherits       string
	options        []option
}

// option is a line of a stanza. Key has hyphens; value is the rest of the line.
type option struct {
	line
	key, value string
}

// config is what the files say in the order that the programs read them.
type config struct {
	stanzas []stanza
	// brought are the interfaces that some line brings up, by name.
	brought map[string]bool
	// others are lines that belong to nothing known.
	others []placedLine
	// unread are files that no line names, elsewhere patterns of files in other
	// directories, which may say more.
	unread, elsewhere []string
}

type placedLine struct {
	file string
	line
	why string
}

// readConfig reads the main file and what it sources; without a main file all files,
// by name.
func readConfig(files map[string]string) config {
	c := config{brought: map[string]bool{}}
	seen := map[string]bool{stagedOne: true}
	if _, whole := files[mainFile]; whole {
		c.read(mainFile, files, seen)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if seen[file] || !strings.HasPrefix(file, Dir) {
			continue
		}
		if _, whole := files[mainFile]; whole {
			c.unread = append(c.unread, file)
			continue
		}
		c.read(file, files, seen)
	}
	return c
}

// read adds a file, in whose place among the others its source line stands.
func (c *config) read(file string, files map[string]string, seen map[string]bool) {
	seen[file] = true
	at := -1 // the stanza that options belong to
	skip := false
	for _, l := range readLines(files[file]) {
		if len(l.words) == 0 {
			continue
		}
		head := l.words[0]
		if isHead(head) {
			at, skip = -1, false
		}
		switch {
		case head == "iface" && len(l.words) > 1:
			s := stanza{file: file, head: l, name: l.words[1]}
			for i := 2; i < len(l.words); i++ {
				switch w := l.words[i]; {
				case w == "inherits" && i+1 < len(l.words):
					s.inherits = l.words[i+1]
					i++
				case s.family == "" && slices.Contains([]string{"inet", "inet6", "can", "ipx", "link"}, w):
					s.family = w
				case s.method == "":
					s.method = w
				}
			}
			c.stanzas = append(c.stanzas, s)
			at = len(c.stanzas) - 1
		case head == "auto" || strings.HasPrefix(head, "allow-") && head != "allow-down":
			for _, name := range l.words[1:] {
				c.brought[name] = true
			}
		case head == "source" || head == "source-directory" || head == "source-dir":
			for _, pattern := range l.words[1:] {
				c.source(file, head != "source", pattern, files, seen)
			}
		case head == "mapping":
			skip = true
			c.others = append(c.others, placedLine{file, l, "which names a script gives is not read"})
		case skip:
		case isHead(head):
			if head != "no-auto-down" && head != "no-scripts" {
				c.others = append(c.others, placedLine{file, l, "is not read"})
			}
		case at >= 0:
			key := strings.ReplaceAll(head, "_", "-")
			value := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(l.text), head))
			c.stanzas[at].options = append(c.stanzas[at].options, option{l, key, value})
		default:
			c.others = append(c.others, placedLine{file, l, "belongs to no stanza"})
		}
	}
}

// source reads the files that a line names: a pattern, or a directory whose names
// have letters, digits, _ and - only (interfaces(5)). A relative one is taken from
// the file's own directory, as ifupdown does.
func (c *config) source(from string, directory bool, pattern string, files map[string]string, seen map[string]bool) {
	if !strings.HasPrefix(pattern, "/") {
		pattern = path.Join(path.Dir(from), pattern)
	}
	dir := path.Dir(pattern)
	if directory {
		dir = path.Clean(pattern)
	}
	if dir+"/" != Dir && dir != path.Clean(Dir+"interfaces.d") {
		c.elsewhere = append(c.elsewhere, pattern)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		named := false
		if directory {
			named = path.Dir(file) == path.Clean(pattern) && !strings.ContainsFunc(path.Base(file), func(r rune) bool {
				return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			})
		} else {
			matched, err := path.Match(pattern, file)
			named = err == nil && matched
		}
		if named && !seen[file] {
			c.read(file, files, seen)
		}
	}
}
