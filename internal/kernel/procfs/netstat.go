package procfs

import (
	"bytes"
	"fmt"
	"strconv"
)

// ParseNetstat reads /proc/net/netstat or /proc/net/snmp: pairs of lines, the
// names and then the values of one group. The result is indexed by group
// ("TcpExt", "IpExt", "Tcp") and name ("TCPLostRetransmit"). Which names exist
// depends on the kernel. Signed values occur (Tcp MaxConn is -1).
func ParseNetstat(text []byte) (map[string]map[string]int64, error) {
	groups := make(map[string]map[string]int64)
	var names [][]byte
	var group string
	err := lines(text, func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		head, rest, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return fmt.Errorf("parse netstat: line %.40q has no group", line)
		}
		fields := bytes.Fields(rest)
		if names == nil {
			group = string(head)
			names = make([][]byte, len(fields))
			for i := range fields {
				names[i] = bytes.Clone(fields[i])
			}
			return nil
		}
		if group != string(head) || len(names) != len(fields) {
			return fmt.Errorf("parse netstat: %d names of %.32q, then %d values of %.32q", len(names), group, len(fields), head)
		}
		values, err := pairUp(names, fields)
		if err != nil {
			return fmt.Errorf("parse netstat: %.32s: %w", group, err)
		}
		groups[group] = values
		names = nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	if names != nil {
		return nil, fmt.Errorf("parse netstat: no values for %.32q", group)
	}
	return groups, nil
}

func pairUp(names, fields [][]byte) (map[string]int64, error) {
	values := make(map[string]int64, len(names))
	for i := range names {
		v, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			// A counter past 2^63 is printed unsigned; it is kept modulo 2^64
			// so that differences still come out right.
			u, unsigned := strconv.ParseUint(string(fields[i]), 10, 64)
			if unsigned != nil {
				return nil, fmt.Errorf("%.32s: %.32q is no number", names[i], fields[i])
			}
			v = int64(u)
		}
		values[string(names[i])] = v
	}
	return values, nil
}
