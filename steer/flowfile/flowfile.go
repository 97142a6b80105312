// Package flowfile reads files of flows, a flow a line.
package flowfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

// column is one column of a flow file: its name and how a cell of it enters a
// frame. An empty cell leaves the frame as it is.
type column struct {
	name string
	set  func(f *flow.Frame, cell string) error
}

// columns is the one table of what a flow file may hold.
var columns = [...]column{
	{"proto", func(f *flow.Frame, s string) error { return f.Proto.UnmarshalText([]byte(strings.ToLower(s))) }},
	{"src", func(f *flow.Frame, s string) error { return setAddr(&f.Src, s) }},
	{"dst", func(f *flow.Frame, s string) error { return setAddr(&f.Dst, s) }},
	{"sport", func(f *flow.Frame, s string) error { f.NoSport = false; return setUint16(&f.Sport, "port", s) }},
	{"dport", func(f *flow.Frame, s string) error { f.NoDport = false; return setUint16(&f.Dport, "port", s) }},
	{"smac", func(f *flow.Frame, s string) error { return f.SrcMAC.UnmarshalText([]byte(s)) }},
	{"dmac", func(f *flow.Frame, s string) error { return f.DstMAC.UnmarshalText([]byte(s)) }},
	{"vlan", func(f *flow.Frame, s string) error { return setVLAN(&f.VLAN, s) }},
	{"icmp_type", func(f *flow.Frame, s string) error { return setUint8(&icmpOf(f).Type, "ICMP type", s) }},
	{"icmp_code", func(f *flow.Frame, s string) error { return setUint8(&icmpOf(f).Code, "ICMP code", s) }},
	{"icmp_id", func(f *flow.Frame, s string) error { return setUint16(&icmpOf(f).ID, "ICMP identifier", s) }},
	{"spi", func(f *flow.Frame, s string) error { return setUint32(&f.SPI, "security parameter index", s) }},
	{"fragment", func(f *flow.Frame, s string) error { return setBool(&f.Fragment, s) }},
	{"forwarded", func(f *flow.Frame, s string) error { return setBool(&f.Forwarded, s) }},
}

// Parse reads a CSV file of flows whose header names its columns, of
// proto,src,dst,sport,dport,smac,dmac,vlan in any order; those left out and
// empty cells are tcp for proto and not given for the rest. Further
// columns are icmp_type,icmp_code,icmp_id, spi of IPsec (0x for hexadecimal),
// and fragment and forwarded (yes or no). Lines that begin with # are comments. Errors name line and column (the byte in the
// line) as "line 3, column 12: ...".
func Parse(data []byte) ([]flow.Frame, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	r.Comment = '#'
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("line 1, column 1: no header: want some of " + columnNames())
	}
	if err != nil {
		return nil, located(err)
	}
	order, err := readHeader(r, header)
	if err != nil {
		return nil, err
	}
	var frames []flow.Frame
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return frames, nil
		}
		if err != nil {
			return nil, located(err)
		}
		f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP}, NoSport: true, NoDport: true}
		for i, cell := range row {
			cell = strings.TrimSpace(cell)
			if cell == "" {
				continue
			}
			if err := order[i].set(&f, cell); err != nil {
				return nil, at(r, i, fmt.Errorf("%s: %w", order[i].name, err))
			}
		}
		if !f.Proto.HasPorts() {
			f.NoSport, f.NoDport = false, false
		}
		frames = append(frames, f)
	}
}

// readHeader matches the header's cells with the columns.
func readHeader(r *csv.Reader, header []string) ([]column, error) {
	order := make([]column, len(header))
	for i, cell := range header {
		name := strings.ToLower(strings.TrimSpace(cell))
		c, ok := columnNamed(name)
		if !ok {
			return nil, at(r, i, fmt.Errorf("unknown column %q: nearest is %q, known are %s", name, nearest(name), columnNames()))
		}
		for _, before := range order[:i] {
			if before.name == name {
				return nil, at(r, i, fmt.Errorf("column %q is there twice", name))
			}
		}
		order[i] = c
	}
	return order, nil
}

func columnNamed(name string) (column, bool) {
	for _, c := range columns {
		if c.name == name {
			return c, true
		}
	}
	return column{}, false
}

func columnNames() string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ",")
}

func at(r *csv.Reader, field int, err error) error {
	line, col := r.FieldPos(field)
	return fmt.Errorf("line %d, column %d: %w", line, col, err)
}

// located puts an encoding/csv error into the same words as the others.
func located(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("read flows: %w", err)
	}
	return fmt.Errorf("line %d, column %d: %w", p.Line, p.Column, p.Err)
}

func setAddr(a *netip.Addr, s string) error {
	v, err := netip.ParseAddr(s)
	if err != nil {
		return fmt.Errorf("parse address %q: want an IPv4 or IPv6 address", s)
	}
	*a = v
	return nil
}

func setUint8(n *uint8, what, s string) error {
	v, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return fmt.Errorf("parse %s %q: want 0 to 255", what, s)
	}
	*n = uint8(v)
	return nil
}

func setUint16(n *uint16, what, s string) error {
	v, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return fmt.Errorf("parse %s %q: want 0 to 65535", what, s)
	}
	*n = uint16(v)
	return nil
}

// mostVLAN is the last tag that may be used (IEEE 802.1Q).
const mostVLAN = 4094

func setVLAN(tag *uint16, s string) error {
	v, err := strconv.ParseUint(s, 10, 16)
	if err != nil || v > mostVLAN {
		return fmt.Errorf("parse VLAN tag %q: want 0 to %d", s, mostVLAN)
	}
	*tag = uint16(v)
	return nil
}

func setUint32(n *uint32, what, s string) error {
	v, err := strconv.ParseUint(s, 0, 32)
	if err != nil {
		return fmt.Errorf("parse %s %q: want 0 to 4294967295", what, s)
	}
	*n = uint32(v)
	return nil
}

func setBool(b *bool, s string) error {
	switch strings.ToLower(s) {
	case "yes", "true", "1":
		*b = true
	case "no", "false", "0":
		*b = false
	default:
		return fmt.Errorf("parse %q: want yes or no", s)
	}
	return nil
}

// icmpOf is the frame's ICMP header, which a cell of it makes known.
func icmpOf(f *flow.Frame) *flow.ICMPHeader {
	if f.ICMP == nil {
		f.ICMP = &flow.ICMPHeader{}
	}
	return f.ICMP
}

// nearest is the column whose name needs fewest edits to become name.
func nearest(name string) string {
	best, least := "", -1
	for _, c := range columns {
		if d := yamldoc.Distance(name, c.name); least < 0 || d < least {
			best, least = c.name, d
		}
	}
	return best
}
