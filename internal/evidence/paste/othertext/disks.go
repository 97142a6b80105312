package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Disks reads how busy the disks are: zpool iostat, iostat -x of Linux and FreeBSD, and
// gstat. Disks are "disk NAME" (util in per cent, read_bps and write_bps), pools
// "pool NAME".
var Disks = piece.Reader{
	Kind:     "load of disks",
	Commands: []string{"zpool", "iostat", "gstat"},
	Starts: func(line string) bool {
		return strings.Contains(line, "%util") && diskHead(line) != nil || strings.Contains(line, "alloc") && zpoolHead.MatchString(line) || strings.Contains(line, "%busy") || strings.HasPrefix(line, "dT: ") || strings.Contains(line, "capacity") && zpoolTop.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("zpool") && zpoolRow.MatchString(line)
	},
	Read: reading(readDisks),
}

var zpoolTop = piece.Compile(`^\s*capacity\s+operations\s+bandwidth`)

var zpoolHead = piece.Compile(`^\s*pool\s+alloc\s+free\s+read\s+write\s+read\s+write`)

var zpoolRow = piece.Compile(`^(\s*)([\w./:-]+)\s+([\d.]+[KMGTP]?|-)\s+([\d.]+[KMGTP]?|-)\s+[\d.]+[KMG]?\s+[\d.]+[KMG]?\s+([\d.]+)([KMGT]?)\s+([\d.]+)([KMGT]?)(?:\s|$)`)

var diskName = piece.Compile(`^(?:sd[a-z]+|nvme\d+n\d+|vd[a-z]+|xvd[a-z]+|hd[a-z]|md\d+\w*|dm-\d+|da\d+|ada\d+|nda\d+|nvd\d+|mmcblk\d+|sata\d+|nvme\d+|zd\d+|ada\d+p\d+|rbd\d+|bcache\d+)$`)

// diskHead are the titles of iostat -x; nil another line.
func diskHead(line string) []string {
	f := strings.Fields(line)
	if len(f) < 2 || !strings.HasPrefix(strings.ToLower(f[0]), "device") {
		return nil
	}
	return f
}

func readDisks(s *sink, lines []piece.Line) int {
	var titles []string
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		f := strings.Fields(text)
		if head := diskHead(text); head != nil {
			titles = head
			return true
		}
		if strings.Contains(text, "%busy") {
			titles = f
			return true
		}
		if zpoolHead.MatchString(text) || zpoolTop.MatchString(text) || strings.Trim(text, "- ") == "" {
			return true
		}
		if titles != nil && len(f) == len(titles) {
			name := f[0]
			if !diskName.MatchString(name) {
				name = f[len(f)-1] // gstat has the name last
			}
			if !diskName.MatchString(name) {
				return false
			}
			s.disk(name, titles, f, l)
			return true
		}
		if m := zpoolRow.FindStringSubmatch(l.Text); m != nil {
			s.pool(m, l)
			return true
		}
		return strings.HasPrefix(text, "avg-cpu") || strings.HasPrefix(text, "dT: ") || titles != nil && len(f) == 6 && strings.Contains(text, ".")
	})
}

// diskRates are the columns of what a disk reads and writes, in bytes.
var diskRates = map[string]float64{"rkB/s": 1024, "wkB/s": 1024, "kB_read/s": 1024, "kB_wrtn/s": 1024, "rMB/s": 1 << 20, "wMB/s": 1 << 20, "kr/s": 1024, "kw/s": 1024, "kBps": 1024}

// disk notes how busy a disk is: the busiest of several looks.
func (s *sink) disk(name string, titles, f []string, l piece.Line) {
	moved := 0.0
	for i, title := range titles {
		moved += piece.Float(f[i]) * diskRates[title]
	}
	if moved > 0 {
		s.Set("disk "+name, "moved_bps", strconv.FormatFloat(8*moved, 'f', 0, 64), l)
	}
	for i, title := range titles {
		if title != "%util" && title != "%busy" {
			continue
		}
		n := piece.Float(strings.TrimSuffix(f[i], "%"))
		if old, ok := s.Host.Get("disk "+name, "util"); ok && piece.Float(old.Text) > n {
			return
		}
		s.Set("disk "+name, "util", strconv.FormatFloat(n, 'f', 1, 64), l)
	}
}

// pool notes what a pool, or a part of one, reads and writes.
func (s *sink) pool(m []string, l piece.Line) {
	kind := "pool "
	if m[1] != "" || diskName.MatchString(m[2]) || m[3] == "-" {
		kind = "vdev "
	}
	if _, again := s.Host.Get(kind+m[2], "write_bps"); again { // the first row is the mean since the start
		s.Set(kind+m[2], "looks", "several", l)
	}
	for i, key := range []string{"read_bps", "write_bps"} {
		bytes := piece.Float(m[5+2*i]) * piece.Kibi[m[6+2*i]]
		s.Set(kind+m[2], key, strconv.FormatFloat(8*bytes, 'f', 0, 64), l)
	}
	if kind == "pool " && m[3] != "-" && m[4] != "-" {
		used, free := zpoolSize(m[3]), zpoolSize(m[4])
		if used+free > 0 {
			s.Set("pool "+m[2], "used_percent", strconv.FormatFloat(100*used/(used+free), 'f', 0, 64), l)
		}
	}
}

func zpoolSize(s string) float64 {
	n := len(s)
	if n > 0 && s[n-1] > '9' {
		return piece.Float(s[:n-1]) * piece.Kibi[s[n-1:]]
	}
	return piece.Float(s)
}
