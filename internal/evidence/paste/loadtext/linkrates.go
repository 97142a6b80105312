package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// LinkRates reads monitors of links: sar -n DEV and EDEV, ifstat, nload, bmon, dstat,
// vnstat -l, bwm-ng.
var LinkRates = piece.Reader{
	Kind:     "rates of links",
	Commands: []string{"sar", "ifstat", "nload", "bmon", "dstat", "vnstat", "bwm-ng", "iftop"},
	Starts: func(line string) bool {
		switch {
		case strings.Contains(line, "IFACE") && (strings.Contains(line, "rxpck/s") || strings.Contains(line, "rxerr/s")):
			return true
		case strings.Contains(line, "Device ") && nloadDevice.MatchString(strings.TrimSpace(line)):
			return true
		case strings.Contains(line, "Curr:") || strings.HasPrefix(strings.TrimSpace(line), "Avg:"):
			return nloadRow.MatchString(line)
		case strings.Contains(line, "net/") && strings.Contains(line, "-net/"), strings.Contains(line, "KB/s in") || strings.Contains(line, "Kbps in"):
			return true
		case strings.HasPrefix(line, "Monitoring ") && strings.Contains(line, "..."), strings.Contains(line, "rx:") && vnstatLive.MatchString(line), strings.Contains(line, "bwm-ng"):
			return true
		case strings.Contains(line, "B/s") && bwmRow.MatchString(line):
			return true
		}
		return strings.Count(line, ".")+strings.Count(line, ",") >= 7 && sarBare(unstamped(strings.Fields(line)))
	},
	Owns: func(s piece.Segment, line string) bool {
		switch s.Program() {
		case "bmon":
			return bmonRow.MatchString(line)
		case "ifstat":
			return linkNames(strings.Fields(line))
		case "vnstat":
			return vnstatTraffic.MatchString(line)
		}
		return false
	},
	Read: reading(readLinkRates),
}

var nloadDevice = piece.Compile(`^Device (\S+) (?:\[[^\]]*\] )?\(\d+/\d+\):`)

var nloadRow = piece.Compile(`(Curr|Avg|Min|Max|Ttl): +([\d.]+) ([kMGT]?)(Bit|Byte)(/s)?`)

var vnstatLive = piece.Compile(`rx: +([\d.]+) ([kMGT]?)(bit|B)/s.*tx: +([\d.]+) ([kMGT]?)(bit|B)/s`)

var vnstatTraffic = piece.Compile(`^\s*(rx|tx)\s+([\d.]+) ([kKMGT]?)(i?)(bit|B)/s`)

var bwmRow = piece.Compile(`^\s*([A-Za-z]\S*?):?\s+([\d.]+) ([KMG]?)([Bb])/s\s+([\d.]+) ([KMG]?)[Bb]/s\s+([\d.]+) ([KMG]?)[Bb]/s`)

var bmonRow = piece.Compile(`^\s*>?([A-Za-z][\w.@-]*)\s*[|│]?\s+([\d.]+)([KMG]?)(i?)([Bb])?\s+([\d.]+)[KM]?\s*\d*%?\s*[|│]?\s+([\d.]+)([KMG]?)(i?)([Bb])?\s+`)

var dstatNames = piece.Compile(`net/([\w.@]+)`)

var dstatValue = piece.Compile(`^(\d+(?:\.\d+)?)([BkMG]?)$`)

var nameShape = piece.Compile(`^[A-Za-z][\w.@:-]{0,14}$`)

var sarColumns = map[string]string{"rxerr/s": "seen_rx_errors", "txerr/s": "seen_tx_errors", "rxdrop/s": "seen_rx_drops", "txdrop/s": "seen_tx_drops",
	"rxfram/s": "seen_rx_frame", "rxfifo/s": "seen_rx_fifo", "rxpck/s": "seen_rx_pps", "txpck/s": "seen_tx_pps", "%ifutil": "seen_util"}

func readLinkRates(s *sink, lines []piece.Line) int {
	for _, l := range lines[:min(len(lines), 3)] {
		text := strings.TrimSpace(l.Text)
		switch {
		case text == "":
		case nloadDevice.MatchString(text) || nloadRow.MatchString(text):
			return s.nload(lines)
		case dstatNames.MatchString(text) && strings.Contains(text, "-net/"):
			return s.dstat(lines)
		case strings.Contains(text, "IFACE") || sarBare(unstamped(strings.Fields(text))):
			return s.sarDevices(lines)
		case strings.Contains(text, "KB/s in") || strings.Contains(text, "Kbps in"):
			return s.ifstat(lines)
		}
	}
	return s.otherRates(lines)
}

// rate sets what a monitor saw of a link, in bits a second.
func (s *sink) rate(link, way string, bits float64, l piece.Line) {
	if bits >= 0 && bits < 1e16 {
		s.Set("link "+link, "seen_"+way+"_bps", strconv.FormatInt(int64(bits+0.5), 10), l)
	}
}

// sarBare reports a row of sar -n DEV whose titles are cut: a link's name, then seven
// or eight numbers with two digits.
func sarBare(f []string) bool {
	if len(f) < 8 || len(f) > 10 || !nameShape.MatchString(f[0]) || f[0] == "all" {
		return false
	}
	for _, v := range f[1:] {
		if at := strings.IndexAny(v, ".,"); at < 0 || len(v)-at != 3 || !number(v) {
			return false
		}
	}
	return true
}

// sarDevices reads sar -n DEV and -n EDEV. Kilobytes are of 1024 bytes
// (rd_stats.h of sysstat 12).
func (s *sink) sarDevices(lines []piece.Line) (read int) {
	titles := strings.Fields("IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil")
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		f := unstamped(strings.Fields(text))
		switch {
		case len(f) == 0:
			return read
		case hostid.Sysstat(s.Sink, text, l):
		case f[0] == "IFACE":
			titles = f
		case len(f) > 3 && len(f) <= len(titles) && nameShape.MatchString(f[0]) && number(f[1]) && number(f[2]):
			s.sarRow(titles, f, l)
		default:
			return read
		}
		read = i + 1
	}
	return read
}

func (s *sink) sarRow(titles, f []string, l piece.Line) {
	for i := 1; i < len(f); i++ {
		if !number(f[i]) {
			return
		}
		switch title := titles[i]; title {
		case "rxkB/s", "txkB/s":
			s.rate(f[0], title[:2], piece.Float(f[i])*1024*8, l)
		case "rxbyt/s", "txbyt/s":
			s.rate(f[0], title[:2], piece.Float(f[i])*8, l)
		default:
			if key := sarColumns[title]; key != "" {
				s.Set("link "+f[0], key, f[i], l)
			}
		}
	}
}

// nload prints two columns, received and sent; its multiples are of 1024.
func (s *sink) nload(lines []piece.Line) (read int) {
	link := ""
	if f := strings.Fields(s.Segment.Command); len(f) > 1 && s.Segment.Program() == "nload" {
		link = f[len(f)-1]
	}
	ways := []string{"rx", "tx"}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || piece.Ruled(text) {
			continue
		}
		m := nloadDevice.FindStringSubmatch(text)
		rows := nloadRow.FindAllStringSubmatch(text, 4)
		switch {
		case m != nil:
			link, ways = m[1], []string{"rx", "tx"}
		case strings.HasPrefix(text, "Incoming:"):
			if ways = []string{"rx"}; strings.Contains(text, "Outgoing:") {
				ways = []string{"rx", "tx"}
			}
		case strings.HasPrefix(text, "Outgoing:"):
			ways = []string{"tx"}
		case len(rows) > 0:
			for n, row := range rows {
				if n >= len(ways) || link == "" {
					break
				}
				bits := piece.Float(row[2]) * piece.Kibi[row[3]]
				if row[4] == "Byte" {
					bits *= 8
				}
				switch row[1] {
				case "Curr":
					s.rate(link, ways[n], bits, l)
				case "Max":
					s.rate(link, ways[n]+"_max", bits, l)
				}
			}
		case strings.Contains(text, "#") || strings.Contains(text, "|"):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// linkNames reports a row of names alone.
func linkNames(f []string) bool {
	for _, name := range f {
		if !nameShape.MatchString(name) || !strings.ContainsAny(name, "0123456789") {
			return false
		}
	}
	return len(f) > 0
}

// ifstat prints names, titles, and rows of two numbers a link. What is shown is the
// mean of the rows that are whole.
func (s *sink) ifstat(lines []piece.Line) (read int) {
	var names []string
	scale := 1024 * 8.0
	var sums []float64
	rows := 0
	var last piece.Line
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		f := strings.Fields(text)
		switch {
		case text == "":
			continue
		case strings.Contains(text, "KB/s in"), strings.Contains(text, "Kbps in"):
			if strings.Contains(text, "Kbps") {
				scale = 1000
			}
		case linkNames(f) && names == nil:
			names, sums = f, make([]float64, 2*len(f))
		case len(f) > 0 && number(f[0]):
			if len(f) == len(sums) && (i+1 < len(lines) || rows == 0) {
				for n, v := range f {
					sums[n] += piece.Float(v)
				}
				rows++
				last = l
			}
		default:
			text = ""
		}
		if text == "" {
			break
		}
		read = i + 1
	}
	if names == nil || rows == 0 {
		return read
	}
	for n, sum := range sums {
		s.rate(names[n/2], []string{"rx", "tx"}[n%2], sum/float64(rows)*scale, last)
	}
	return read
}

// dstat prints a group of columns for each link in its title; figures are bytes with
// B, k or M of 1024.
func (s *sink) dstat(lines []piece.Line) (read int) {
	var names []string
	group := -1
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		switch {
		case text == "":
			continue
		case strings.Contains(text, "net/"):
			names = nil
			for _, m := range dstatNames.FindAllStringSubmatch(text, 64) {
				names = append(names, m[1])
			}
			group = -1
		case strings.Contains(text, "recv") && strings.Contains(text, "send"):
			for n, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' }) {
				if strings.Contains(part, "recv") {
					group = n
					break
				}
			}
		case group >= 0 && strings.ContainsAny(text, "0123456789"):
			parts := strings.Split(text, "|")
			if group >= len(parts) {
				return read
			}
			s.dstatRow(names, strings.FieldsFunc(parts[group], func(r rune) bool { return r == ' ' || r == ':' }), l)
		default:
			return read
		}
		read = i + 1
	}
	return read
}

func (s *sink) dstatRow(names, f []string, l piece.Line) {
	if len(f) != 2*len(names) {
		return
	}
	for n, v := range f {
		m := dstatValue.FindStringSubmatch(v)
		if m == nil {
			return
		}
		s.rate(names[n/2], []string{"rx", "tx"}[n%2], piece.Float(m[1])*piece.Kibi[strings.Trim(m[2], "B")]*8, l)
	}
}

// otherRates reads the rows that name themselves: bwm-ng, bmon, vnstat.
func (s *sink) otherRates(lines []piece.Line) (read int) {
	link := s.CallOf("vnstat").Value("-i", "--iface")
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || piece.Ruled(text) {
			continue
		}
		if strings.HasPrefix(text, "Monitoring ") {
			link = strings.TrimRight(strings.Fields(text)[1], ".")
			read = i + 1
			continue
		}
		if m := bwmRow.FindStringSubmatch(l.Text); m != nil {
			scale := 8 * piece.Kibi[m[3]]
			if m[4] == "b" {
				scale = piece.Decimal[m[3]]
			}
			scale2 := 8 * piece.Kibi[m[6]]
			if m[4] == "b" {
				scale2 = piece.Decimal[m[6]]
			}
			if m[1] != "total" && m[1] != "lo" {
				s.rate(m[1], "rx", piece.Float(m[2])*scale, l)
				s.rate(m[1], "tx", piece.Float(m[5])*scale2, l)
			}
		} else if m := vnstatLive.FindStringSubmatch(text); m != nil {
			if link != "" {
				s.rate(link, "rx", vnstatBits(m[1], m[2], "", m[3]), l)
				s.rate(link, "tx", vnstatBits(m[4], m[5], "", m[6]), l)
			}
		} else if m := vnstatTraffic.FindStringSubmatch(text); m != nil {
			if link != "" {
				s.rate(link, m[1], vnstatBits(m[2], m[3], m[4], m[5]), l)
			}
		} else if m := bmonRow.FindStringSubmatch(l.Text); m != nil && s.Segment.Program() == "bmon" {
			s.rate(m[1], "rx", bmonBits(m[2], m[3], m[4], m[5]), l)
			s.rate(m[1], "tx", bmonBits(m[7], m[8], m[9], m[10]), l)
		} else if !strings.HasPrefix(text, "Interfaces") && !strings.Contains(text, "bwm-ng") && !strings.HasPrefix(text, "input: /proc") && !strings.Contains(text, "iface ") {
			break
		}
		read = i + 1
	}
	return read
}

func vnstatBits(value, prefix, ibi, unit string) float64 {
	scale := piece.Decimal[prefix]
	if ibi != "" {
		scale = piece.Kibi[prefix]
	}
	if unit == "B" {
		scale *= 8
	}
	return piece.Float(value) * scale
}

func bmonBits(value, prefix, ibi, unit string) float64 {
	scale := piece.Decimal[prefix]
	if ibi != "" {
		scale = piece.Kibi[prefix]
	}
	if unit != "b" {
		scale *= 8
	}
	return piece.Float(value) * scale
}
