package resultfile

import (
	"encoding/csv"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// row is a line of iperf -y C: of an interval or of all of a stream's time.
type row struct {
	at       time.Time // of the end; zero where the tool did not know
	fine     bool      // at is known better than to the second
	from, to netip.AddrPort
	id       int // -1 is a sum over streams
	begin    float64
	end      float64 // seconds since the stream's own start
	bytes    float64
	udp      bool
	jitterMS float64
	lost     float64
	sent     float64 // datagrams; negative where only the other end knows
	late     float64
	// writer and reader are set by columns that only a sender or a receiver
	// has (2.2 and newer).
	writer, reader bool
	retries        float64
	rttUS          float64
}

// columns are the places of a header's names; nil is the form without one.
type columns map[string]int

// isHeader reports the line of names that 2.2's enhanced form begins with.
func isHeader(line string) bool { return strings.HasPrefix(line, "time,srcaddress,srcport,") }

func parseHeader(line string) columns {
	c := make(columns)
	for i, name := range strings.Split(strings.TrimSpace(line), ",") {
		if _, twice := c[name]; !twice && i < 64 {
			c[name] = i
		}
	}
	return c
}

// plain are the places of the form without a header: 2.0 and 2.1, nine
// columns and for datagrams five more; 2.1.9's enhanced form has others behind.
const plainColumns, udpColumns = 9, 14

// parseRow reads a line; ok is false for one that is no row.
func parseRow(line string, named columns) (r row, ok bool) {
	line = strings.TrimSpace(line)
	if len(line) > 1024 || strings.Count(line, ",") < plainColumns-1 {
		return row{}, false
	}
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(fields) < plainColumns {
		return row{}, false
	}
	if r.at, r.fine, ok = parseStamp(fields[0]); !ok {
		return row{}, false
	}
	if r.from, ok = endpoint(fields[1], fields[2]); !ok {
		return row{}, false
	}
	if r.to, ok = endpoint(fields[3], fields[4]); !ok {
		return row{}, false
	}
	if r.id, err = strconv.Atoi(fields[5]); err != nil {
		return row{}, false
	}
	if begin, end, found := strings.Cut(fields[6], "-"); found {
		return r.plain(fields, begin, end)
	}
	return r.enhanced(fields, named)
}

func (r row) plain(fields []string, begin, end string) (row, bool) {
	n, ok := numbers(begin, end, fields[7])
	if !ok {
		return row{}, false
	}
	r.begin, r.end, r.bytes = n[0], n[1], n[2]
	if len(fields) == udpColumns {
		n, ok := numbers(fields[9:14]...)
		if !ok {
			return row{}, false
		}
		r.udp, r.jitterMS, r.lost, r.sent, r.late = true, n[0], n[1], n[2], n[4]
	}
	return r, r.sound()
}

func (r row) enhanced(fields []string, named columns) (row, bool) {
	n, ok := numbers(fields[6:9]...)
	if !ok {
		return row{}, false
	}
	r.begin, r.end, r.bytes = n[0], n[1], n[2]
	get := func(name string) float64 {
		at, known := named[name]
		if !known || at >= len(fields) {
			return 0
		}
		v, err := strconv.ParseFloat(fields[at], 64)
		if err != nil || v >= 1<<32-1 { // what it does not know it prints as -1 of 32 bits
			return 0
		}
		return v
	}
	_, r.udp = named["jitter"]
	_, r.reader = named["readcnt"]
	// A receiver's rows have these columns too, with -1 in them.
	r.writer = get("writecnt") > 0 && !r.udp
	if r.udp {
		r.jitterMS, r.lost, r.sent, r.late = get("jitter"), get("errors"), get("datagrams"), get("outoforder")
	}
	r.retries, r.rttUS = get("tcpretry"), get("tcprtt")
	return r, r.sound()
}

func (r row) sound() bool { return r.begin >= 0 && r.end > r.begin && r.bytes >= 0 && r.end < 1e9 }

func numbers(texts ...string) ([]float64, bool) {
	var out []float64
	for _, t := range texts {
		v, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
		if err != nil || v != v || v > 1e18 || v < -1e18 {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// endpoint reads an address, a zone and brackets left out, and a port.
func endpoint(host, port string) (netip.AddrPort, bool) {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return netip.AddrPort{}, false
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a.WithZone("").Unmap(), uint16(p)), true
}

// parseStamp reads "20261121173503", with ".789" behind (2.1) and "+0200:" in
// front (2.1.9). Without a zone it is the writer's local time, taken as UTC.
// 2.1 without -i writes the year 1970: not known.
func parseStamp(s string) (at time.Time, fine, ok bool) {
	layout := "20060102150405"
	if zone, rest, found := strings.Cut(s, ":"); found {
		if len(zone) != 5 {
			return time.Time{}, false, false
		}
		layout, s = "-0700"+layout, zone+rest
	}
	if _, _, found := strings.Cut(s, "."); found {
		layout, fine = layout+".999999999", true
	}
	at, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, false, false
	}
	if at.Year() < 1990 {
		return time.Time{}, false, true
	}
	return at.UTC(), fine, true
}
