package topology

import (
	"strings"
	"testing"
)

func TestParseReach(t *testing.T) {
	for text, want := range map[string]Reach{
		"snmp://192.0.2.1":             {Scheme: "snmp", Host: "192.0.2.1", Port: 161},
		"snmp://watcher@leaf1:1161":    {Scheme: "snmp", User: "watcher", Host: "leaf1", Port: 1161},
		"snmp://[2001:db8::1]:161":     {Scheme: "snmp", Host: "2001:db8::1", Port: 161},
		"":                             {},
		"snmp://":                      {},
		"snmp://leaf1:0":               {},
		"snmp://leaf1:70000":           {},
		"snmp://leaf1/x":               {},
		"snmp://leaf1?community=x":     {},
		"ssh://admin@leaf1":            {Scheme: "ssh", User: "admin", Host: "leaf1"},
		"ssh://leaf1:2222":             {Scheme: "ssh", Host: "leaf1", Port: 2222},
		"gnmi://leaf1":                 {Scheme: "gnmi", Host: "leaf1", Port: 9339},
		"ssh://-oProxyCommand=x":       {},
		"ssh://-l@leaf1":               {},
		"ssh://leaf1?become=sudo":      {},
		"telnet://leaf1":               {},
		"snmp://watcher:s3cret@leaf1":  {},
		"snmp://watcher:s3:cret@leaf1": {},
	} {
		got, err := ParseReach(text)
		if got != want || (err != nil) != (want == Reach{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}
