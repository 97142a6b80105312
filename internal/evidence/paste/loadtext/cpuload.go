package loadtext

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// CPULoad reads mpstat, sar -u, vmstat's cousins by core, and the processes of top,
// htop, pidstat and ps.
var CPULoad = piece.Reader{
	Kind:     "load of cores",
	Commands: []string{"mpstat", "sar", "top", "htop", "pidstat", "ps"},
	Starts: func(line string) bool {
		switch {
		case strings.Contains(line, "%idle"), strings.Contains(line, "%CPU") || strings.Contains(line, "CPU%") || strings.Contains(line, "WCPU"):
			return true
		case strings.Contains(line, "% sirq"):
			return busyboxCores.MatchString(line)
		case strings.Contains(line, "%Cpu") || strings.Contains(line, "Cpu(s)") || strings.HasPrefix(line, "top - "):
			return true
		case strings.Count(line, ".")+strings.Count(line, ",") >= 9:
			return bareCore(strings.Fields(line)) != nil || topRow(line) != nil
		}
		return topRow(line) != nil || bsdTopRow.MatchString(line)
	},
	Read: reading(readCPULoad),
}

var topCore = piece.Compile(`^%?Cpu(\(s\)|\d+)\s*:\s*(.*)$`)

// busyboxCores are the shares of all cores together, or of one (busybox top.c
// display_cpus).
var busyboxCores = piece.Compile(`^CPU(\d*):\s+([\d.]+)% usr\s+([\d.]+)% sys\s+([\d.]+)% nic\s+([\d.]+)% idle\s+([\d.]+)% io\s+([\d.]+)% irq\s+([\d.]+)% sirq`)

var topShare = piece.Compile(`([\d.,]+)\s*%?\s*(us|sy|ni|id|wa|hi|si|st)\b`)

var topOther = piece.Compile(`^(?:top - |Tasks:|Threads:|(?:[KMG]iB )?(?:Mem|Swap)\s*:|Mem:|Swap:|last pid|\d+ (?:processes|threads)|CPU:|CPU \d+:|ARC:|\.\.\.)`)

var bsdTopRow = piece.Compile(`^\s*\d+ \S+ +(?:\d+ +)?-?\d+ +\S+ .*\s(\d+:\d+(?:\.\d+)?|\d+\.\dH)\s+([\d.]+)% (\S.*)$`)

var clockTime = piece.Compile(`^\d{1,2}[:.]\d{2}[:.]\d{2}$`)

// coreReader reads looks at all cores, one after the other.
type coreReader struct {
	*sink
	looks []look
	mean  bool // the line is of the mean
}

// look is what each core did in one interval, or in all of them.
type look struct {
	cores []piece.Core
	mean  bool
}

func readCPULoad(in *sink, lines []piece.Line) (read int) {
	s := coreReader{sink: in}
	defer s.keep()
	var titles []string
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		first, _, _ := strings.Cut(text, " ")
		s.mean = strings.HasSuffix(first, ":") && !clockTime.MatchString(strings.TrimSuffix(first, ":")) && !strings.Contains(strings.ToLower(first), "cpu")
		fields := unstamped(strings.Fields(text))
		switch {
		case len(fields) == 0:
			return read
		case hostid.Sysstat(s.Sink, text, l):
		case topCore.MatchString(text):
			s.topCore(text, l)
		case busyboxCores.MatchString(text):
			s.busyboxCores(text, l)
		case titled(fields):
			titles = fields
		case titles != nil && s.titledRow(titles, fields, text, l):
		case bareCore(fields) != nil:
			s.core(*bareCore(fields), l)
		case bsdTopRow.MatchString(text):
			m := bsdTopRow.FindStringSubmatch(text)
			s.process(m[3], piece.Float(m[2]), l)
		case topRow(text) != nil:
			row := topRow(text)
			s.process(row.Name, row.CPU, l)
		case topOther.MatchString(text):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// unstamped takes a row's time off, with the AM or PM behind it, or the word for the
// mean, which sysstat translates.
func unstamped(f []string) []string {
	if len(f) > 0 && (clockTime.MatchString(f[0]) || strings.HasSuffix(f[0], ":") && len(f[0]) > 3) {
		f = f[1:]
		if len(f) > 0 && (f[0] == "AM" || f[0] == "PM" || f[0] == ":") {
			f = f[1:]
		}
	}
	return f
}

func titled(f []string) bool {
	share, others := false, 0
	for _, w := range f {
		switch w {
		case "%idle", "%CPU", "CPU%", "WCPU":
			share = true
		case "PID", "USER", "COMMAND", "Command", "CPU", "%usr", "%user", "USERNAME", "UID":
			others++
		}
	}
	return share && others > 0
}

// titledRow reads a row below titles: a core's, or a process's.
func (s *coreReader) titledRow(titles, fields []string, text string, l piece.Line) bool {
	at := make(map[string]int, len(titles))
	for i, t := range titles {
		at[strings.ToLower(t)] = i
	}
	if idle, ok := at["%idle"]; ok {
		if len(fields) != len(titles) || !number(fields[idle]) {
			return false
		}
		c := piece.Core{ID: "all"}
		if n, ok := at["cpu"]; ok {
			c.ID = fields[n]
		}
		value := func(names ...string) float64 {
			total := 0.0
			for _, name := range names {
				if n, ok := at[name]; ok {
					total += piece.Float(fields[n])
				}
			}
			return total
		}
		if c.ID != "all" && piece.Whole(c.ID) < 0 {
			return false
		}
		c.User, c.System = value("%usr", "%user", "%nice", "%guest", "%gnice"), value("%sys", "%system")
		c.Soft, c.Steal, c.Idle = value("%soft", "%irq"), value("%steal"), value("%idle")
		s.core(c, l)
		return true
	}
	column, ok := at["%cpu"]
	if !ok {
		column, ok = at["cpu%"]
	}
	if !ok {
		column, ok = at["wcpu"]
	}
	last := len(titles) - 1
	if !ok || len(fields) < len(titles) || column >= last {
		return false
	}
	use := strings.TrimSuffix(fields[column], "%")
	if !number(use) {
		if m := bsdTopRow.FindStringSubmatch(text); m != nil {
			s.process(m[3], piece.Float(m[2]), l)
			return true
		}
		return false
	}
	s.process(strings.Join(fields[last:], " "), piece.Float(use), l)
	return true
}

func number(s string) bool {
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	return err == nil
}

// bareCore is a row of mpstat whose titles are cut: ten shares that add up to 100 in
// the order of sysstat 9 and later; nil for another row.
func bareCore(fields []string) *piece.Core {
	f := unstamped(fields)
	if len(f) != 11 || f[0] != "all" && piece.Whole(f[0]) < 0 {
		return nil
	}
	var v [10]float64
	total := 0.0
	for i := range v {
		if !number(f[i+1]) || !strings.ContainsAny(f[i+1], ".,") {
			return nil
		}
		v[i] = piece.Float(f[i+1])
		total += v[i]
	}
	if total < 98.5 || total > 101.5 {
		return nil
	}
	return &piece.Core{ID: f[0], User: v[0] + v[1] + v[7] + v[8], System: v[2], Soft: v[4] + v[5], Steal: v[6], Idle: v[9]}
}

// topRow is a process's row of Linux's top or htop whose titles are cut; nil for
// another line.
func topRow(line string) *piece.Process {
	f := strings.Fields(line)
	if len(f) < 12 || piece.Whole(f[0]) <= 0 || len(f[7]) != 1 || !strings.Contains("RSDZTI", f[7]) {
		return nil
	}
	if !number(f[8]) || !number(f[9]) || !strings.Contains(f[10], ":") || piece.Whole(f[3]) < 0 && f[3][0] != '-' {
		return nil
	}
	return &piece.Process{Name: strings.Join(f[11:], " "), CPU: piece.Float(f[8])}
}

func (s *coreReader) topCore(text string, l piece.Line) {
	m := topCore.FindStringSubmatch(text)
	c := piece.Core{ID: m[1]}
	if c.ID == "(s)" {
		c.ID = "all"
	}
	for _, share := range topShare.FindAllStringSubmatch(m[2], 16) {
		v := piece.Float(share[1])
		switch share[2] {
		case "us", "ni":
			c.User += v
		case "sy":
			c.System = v
		case "hi", "si":
			c.Soft += v
		case "st":
			c.Steal = v
		case "id":
			c.Idle = v
		}
	}
	s.core(c, l)
}

func (s *coreReader) busyboxCores(text string, l piece.Line) {
	n, m := make([]float64, 0, 8), busyboxCores.FindStringSubmatch(text)
	for _, share := range m[2:] {
		n = append(n, piece.Float(share))
	}
	s.core(piece.Core{ID: cmp.Or(m[1], "all"), User: n[0] + n[2], System: n[1], Idle: n[3], Soft: n[5] + n[6]}, l)
}

// core notes a core's load; one that was there already begins another look.
func (s *coreReader) core(c piece.Core, l piece.Line) {
	c.Source = l.Source()
	n := len(s.looks)
	if n == 0 || s.looks[n-1].has(c.ID) || s.looks[n-1].mean != s.mean {
		s.looks, n = append(s.looks, look{mean: s.mean}), n+1
	}
	s.looks[n-1].cores = append(s.looks[n-1].cores, c)
}

func (k look) has(id string) bool {
	return slices.ContainsFunc(k.cores, func(c piece.Core) bool { return c.ID == id })
}

// busy is how many cores did something, those that all have in one row left out where
// they have rows of their own.
func (k look) busy() (cores float64) {
	for _, c := range k.cores {
		if c.ID != "all" || len(k.cores) == 1 {
			cores += 1 - c.Idle/100
		}
	}
	return cores
}

// keep notes the mean, or of several looks the busiest, for who looks before and after a
// test as well sees it in that one; of many, one that a quarter of them reach. An
// earlier output's are replaced.
func (s *coreReader) keep() {
	if len(s.looks) == 0 {
		return
	}
	slices.SortStableFunc(s.looks, func(a, b look) int { return cmp.Compare(a.busy(), b.busy()) })
	best := s.looks[len(s.looks)*3/4]
	if i := slices.IndexFunc(s.looks, func(k look) bool { return k.mean }); i >= 0 {
		best = s.looks[i]
	}
	for _, c := range best.cores {
		if i := slices.IndexFunc(s.Host.Cores, func(o piece.Core) bool { return o.ID == c.ID }); i >= 0 {
			s.Host.Cores[i] = c
			continue
		}
		s.Host.Cores = append(s.Host.Cores, c)
	}
}

func (s *sink) process(name string, use float64, l piece.Line) {
	if name != "" && use > 0 {
		s.Host.Processes = append(s.Host.Processes, piece.Process{Name: name, CPU: use, Source: l.Source()})
	}
}
