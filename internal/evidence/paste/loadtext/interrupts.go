package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Interrupts reads /proc/interrupts, /proc/softirqs and /proc/net/softnet_stat: which
// core has a queue's work.
var Interrupts = piece.Reader{
	Kind: "interrupts",
	Starts: func(line string) bool {
		return strings.Contains(line, "CPU0") && cpuTitles(strings.Fields(line)) > 0 || interruptRow(line) != nil || softirqRow.MatchString(line) || softnetRow(strings.Fields(line))
	},
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Command+s.Path, "/proc/interrupts") && bareInterrupt.MatchString(line)
	},
	Read: reading(readInterrupts),
}

var bareInterrupt = piece.Compile(`^\s*(\d+):((?:\s+\d+)+)\s+(\S.*)$`)

var softirqRow = piece.Compile(`^\s*(NET_RX|NET_TX|TIMER|TASKLET|SCHED|HI|BLOCK|RCU|HRTIMER|IRQ_POLL):((?:\s+\d+)+)\s*$`)

var interruptKinds = piece.Compile(`MSI|IO-APIC|IR-|GIC|xen-|XEN|ITS-|MPIC|IPI`)

var interruptOther = piece.Compile(`^\s*[A-Z]{3}:\s`)

// cpuTitles is the number of cores that a title names; 0 no title.
func cpuTitles(f []string) int {
	for _, w := range f {
		if !strings.HasPrefix(w, "CPU") || piece.Whole(w[3:]) < 0 {
			return 0
		}
	}
	return len(f)
}

// interruptRow is a row of /proc/interrupts; nil for another line.
func interruptRow(line string) []string {
	if !strings.Contains(line, ":") || !interruptKinds.MatchString(line) {
		return nil
	}
	return bareInterrupt.FindStringSubmatch(line)
}

// softnetRow reports a row of /proc/net/softnet_stat: words of eight hex digits.
func softnetRow(f []string) bool {
	if len(f) < 9 || len(f) > 20 {
		return false
	}
	for _, w := range f {
		if len(w) != 8 {
			return false
		}
		if _, err := strconv.ParseUint(w, 16, 32); err != nil {
			return false
		}
	}
	return true
}

func readInterrupts(s *sink, lines []piece.Line) (read int) {
	core := 0
	titles := []string(nil)
	for i, l := range lines {
		f := strings.Fields(l.Text)
		switch {
		case len(f) == 0:
			continue
		case cpuTitles(f) > 0:
			titles = f
		case bareInterrupt.MatchString(l.Text):
			m := bareInterrupt.FindStringSubmatch(l.Text)
			s.spread("irq "+m[1], strings.Fields(m[2]), titles, l)
			s.Set("irq "+m[1], "name", interruptName(m[3]), l)
		case softirqRow.MatchString(l.Text):
			m := softirqRow.FindStringSubmatch(l.Text)
			s.spread("softirq "+m[1], strings.Fields(m[2]), titles, l)
		case softnetRow(f):
			s.softnet(f, core, l)
			core++
		case read > 0 && interruptOther.MatchString(l.Text):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// interruptName is what stands behind an interrupt's kind: the queue's name.
func interruptName(rest string) string {
	f := strings.Fields(rest)
	for len(f) > 1 && (interruptKinds.MatchString(f[0]) || strings.HasSuffix(f[0], "-edge") || strings.HasSuffix(f[0], "-fasteoi") || f[0] == "Edge" || f[0] == "Level" || piece.Whole(f[0]) >= 0) {
		f = f[1:]
	}
	return strings.Join(f, " ")
}

// spread notes which core has the most of an interrupt, and its share in percent.
func (s *sink) spread(subject string, counts, titles []string, l piece.Line) {
	total, most, at := int64(0), int64(-1), 0
	for i, c := range counts {
		n := piece.Whole(c)
		if n < 0 || n > 1<<50 {
			return
		}
		if total += n; n > most {
			most, at = n, i
		}
	}
	s.Set(subject, "count", strconv.FormatInt(total, 10), l)
	s.Set(subject, "cores", strconv.Itoa(len(counts)), l)
	if total == 0 {
		return
	}
	core := strconv.Itoa(at)
	if at < len(titles) {
		core = strings.TrimPrefix(titles[at], "CPU")
	}
	s.Set(subject, "core", core, l)
	s.Set(subject, "core_share", strconv.FormatInt(most*100/total, 10), l)
}

// softnet reads a core's row: packets, those that found the backlog full, and the
// times that the budget ended (net-procfs.c softnet_seq_show). Since 5.10 the 13th
// column is the core.
func (s *sink) softnet(f []string, core int, l piece.Line) {
	if len(f) >= 13 {
		if n, err := strconv.ParseUint(f[12], 16, 16); err == nil {
			core = int(n)
		}
	}
	subject := "softnet " + strconv.Itoa(core)
	for i, key := range []string{"packets", "dropped", "squeezed"} {
		n, _ := strconv.ParseUint(f[i], 16, 32)
		s.Set(subject, key, strconv.FormatUint(n, 10), l)
	}
}
