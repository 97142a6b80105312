package topology

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// The protocols by which a switch is read.
const (
	SNMP = "snmp"
	GNMI = "gnmi"
	SSH  = "ssh"
)

// Schemes are the protocols by which a switch is read.
func Schemes() []string { return []string{SNMP, GNMI, SSH} }

// Reach is where a switch answers, and by which protocol.
type Reach struct {
	Scheme string // one of Schemes
	User   string // that it knows the asker by; "" the credentials say, or ssh's configuration
	Host   string
	Port   uint16 // zero: as ssh's configuration says
}

// defaultPorts are those that IANA assigned; that of ssh is its configuration's.
var defaultPorts = map[string]uint16{SNMP: 161, GNMI: 9339, SSH: 0}

// ParseReach reads snmp://[USER@]HOST[:PORT], and the same of the other protocols. The text
// stands in records: a password or a community in it is refused.
func ParseReach(s string) (Reach, error) {
	scheme, rest, _ := strings.Cut(s, "://")
	port, ok := defaultPorts[scheme]
	if !ok || !strings.Contains(s, "://") {
		return Reach{}, fmt.Errorf("a switch is reached by %s://HOST", strings.Join(Schemes(), "://HOST, "))
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && strings.Contains(rest[:at], ":") {
		return Reach{}, errors.New("a password does not belong into a fabric file: credentials: names a file for it")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "-") || strings.HasPrefix(u.User.Username(), "-") || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return Reach{}, fmt.Errorf("want %s://HOST or %s://HOST:PORT", scheme, scheme)
	}
	r := Reach{Scheme: scheme, User: u.User.Username(), Host: u.Hostname(), Port: port}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Reach{}, errors.New("want a port from 1 to 65535")
		}
		r.Port = uint16(n)
	}
	return r, nil
}
