package loadtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Mounts reads mount, findmnt, /proc/mounts, fstab, nfsstat -m and mountstats: what is
// mounted over a network, with its options and its connections.
var Mounts = piece.Reader{
	Kind:     "mounts",
	Commands: []string{"mount", "findmnt", "nfsstat", "mountstats", "df"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.Contains(text, " type ") && strings.Contains(text, " on /"):
			return mountLine.MatchString(text)
		case strings.HasSuffix(text, " 0 0"):
			return procMount.MatchString(text)
		case strings.HasPrefix(text, "device ") && strings.Contains(text, " mounted on "):
			return true
		case strings.HasPrefix(text, "xprt:"):
			return true
		case strings.HasPrefix(text, "TARGET ") && strings.Contains(text, "FSTYPE"):
			return true
		}
		return strings.HasPrefix(text, "/") && strings.Contains(text, " from ") && nfsFrom.MatchString(text)
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Program() == "findmnt" && findmntRow(strings.Fields(line), nil) != nil
	},
	Read: reading(readMounts),
}

var mountLine = piece.Compile(`^(\S+) on (/.*?) type (\S+) \(([^)]*)\)?$`)

var procMount = piece.Compile(`^(\S+) (/\S*) (\w[\w.]*) (\S+) \d \d$`)

var nfsFrom = piece.Compile(`^(/\S*) from (\S+:/\S*)$`)

var nfsDevice = piece.Compile(`^device (\S+) mounted on (/.*?) with fstype (\S+)(?: statvers=\S+)?$`)

var statsLine = piece.Compile(`^(?:opts|age|impl_id|caps|nfsv4|sec|events|bytes|RPC iostats version|xprt|per-op statistics|fsc|[A-Z_0-9]+):?\s`)

var networkKinds = piece.Words("nfs nfs4 cifs smb3 smbfs ceph glusterfs fuse.glusterfs fuse.sshfs lustre 9p beegfs afs fuse.juicefs gpfs")

func readMounts(s *sink, lines []piece.Line) (read int) {
	var now *piece.Mount // of mountstats or nfsstat
	flush := func() {
		if now != nil && networkKinds[now.Kind] {
			s.Host.Mounts = append(s.Host.Mounts, *now)
		}
		now = nil
	}
	var titles []string
loop:
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		found := mountOf(text)
		switch {
		case found != nil:
			flush()
			found.Source = l.Source()
			now = found
			flush()
		case strings.HasPrefix(text, "TARGET "):
			titles = strings.Fields(text)
		case nfsDevice.MatchString(text):
			flush()
			m := nfsDevice.FindStringSubmatch(text)
			now = &piece.Mount{Device: m[1], Path: m[2], Kind: m[3], Options: map[string]string{}, Source: l.Source()}
		case strings.HasPrefix(text, "device ") && strings.Contains(text, " mounted on "):
			flush()
		case nfsFrom.MatchString(text):
			flush()
			m := nfsFrom.FindStringSubmatch(text)
			now = &piece.Mount{Device: m[2], Path: m[1], Kind: "nfs", Options: map[string]string{}, Source: l.Source()}
		case now != nil && strings.HasPrefix(text, "Flags:"):
			options(now.Options, strings.TrimSpace(strings.TrimPrefix(text, "Flags:")))
			if strings.HasPrefix(now.Options["vers"], "4") {
				now.Kind = "nfs4"
			}
			now.To = l.Number
		case strings.HasPrefix(text, "xprt:"):
			if now == nil {
				now = &piece.Mount{Kind: "nfs", Options: map[string]string{}, Source: l.Source()}
			}
			s.transport(now, strings.Fields(text), l)
		case now != nil && strings.HasPrefix(text, "opts:"):
			options(now.Options, strings.TrimSpace(strings.TrimPrefix(text, "opts:")))
			now.To = l.Number
		case now != nil && statsLine.MatchString(text+" "):
			now.To = l.Number
		default:
			row := findmntRow(strings.Fields(text), titles)
			if row == nil {
				break loop
			}
			row.Source = l.Source()
			now = row
			flush()
		}
		read = i + 1
	}
	flush()
	return read
}

// mountOf reads a row of mount or of /proc/mounts.
func mountOf(text string) *piece.Mount {
	m := mountLine.FindStringSubmatch(text)
	if m == nil {
		if p := procMount.FindStringSubmatch(text); p != nil {
			m = []string{"", p[1], p[2], p[3], p[4]}
		}
	}
	if m == nil {
		return nil
	}
	out := &piece.Mount{Device: m[1], Path: m[2], Kind: m[3], Options: make(map[string]string)}
	options(out.Options, m[4])
	return out
}

// findmntRow reads a row of findmnt: target, source, kind, options; a tree's strokes
// may stand before it.
func findmntRow(f, titles []string) *piece.Mount {
	if len(f) > 0 {
		f[0] = strings.TrimLeft(f[0], "|-`├└─│ ")
		if f[0] == "" {
			f = f[1:]
		}
	}
	if len(f) != 4 || !strings.HasPrefix(f[0], "/") || titles != nil && len(titles) != 4 || !strings.Contains(f[3], "rw") && !strings.Contains(f[3], "ro") {
		return nil
	}
	out := &piece.Mount{Path: f[0], Device: f[1], Kind: f[2], Options: make(map[string]string)}
	options(out.Options, f[3])
	return out
}

func options(to map[string]string, text string) {
	for _, o := range strings.Split(text, ",") {
		if name, value, _ := strings.Cut(strings.TrimSpace(o), "="); name != "" && len(to) < 128 {
			to[name] = value
		}
	}
}

// transport reads a connection's line of mountstats: its kind, its source port, and
// what it sent (net/sunrpc/xprtsock.c xs_tcp_print_stats).
func (s *sink) transport(m *piece.Mount, f []string, l piece.Line) {
	if m.To = l.Number; len(f) < 3 {
		return
	}
	port := piece.Whole(f[2])
	if port <= 0 || port > 65535 {
		return
	}
	m.Ports = append(m.Ports, uint16(port))
	if m.Options["proto"] == "" {
		m.Options["proto"] = f[1]
	}
	if f[1] == "tcp" && len(f) > 7 && piece.Whole(f[7]) >= 0 && m.Path != "" {
		s.Set("mount "+m.Path, "sends "+f[2], f[7], l)
	}
}
