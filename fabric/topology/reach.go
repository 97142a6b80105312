package topology

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Schemes are the protocols by which a switch's counters are read.
func Schemes() []string { return []string{"snmp"} }

// Reach is where a switch answers, and by which protocol.
type Reach struct {
	Scheme string // one of Schemes
	User   string // that it knows the asker by; "" the credentials say
	Host   string
	Port   uint16
}

// defaultPorts are those that IANA assigned.
var defaultPorts = map[string]uint16{"snmp": 161}

// ParseReach reads snmp://[USER@]HOST[:PORT]. The text stands
// in records: a password or a community in it is refused.
func ParseReach(s string) (Reach, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || defaultPorts[scheme] == 0 {
		return Reach{}, fmt.Errorf("a switch is reached by %s://HOST", strings.Join(Schemes(), ":// or "))
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && strings.Contains(rest[:at], ":") {
		return Reach{}, errors.New("a password does not belong into a fabric file: credentials: names a file for it")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return Reach{}, fmt.Errorf("want %s://HOST or %s://HOST:PORT", scheme, scheme)
	}
	r := Reach{Scheme: scheme, User: u.User.Username(), Host: u.Hostname(), Port: defaultPorts[scheme]}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Reach{}, errors.New("want a port from 1 to 65535")
		}
		r.Port = uint16(n)
	}
	return r, nil
}
