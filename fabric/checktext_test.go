package fabric

import (
	"strings"
	"testing"
)

// TestTextStaysInPlace refuses names and values that would be more than one
// word or line of a system's file.
func TestTextStaysInPlace(t *testing.T) {
	const file = "linerate: v1\nhosts:\n  h:\n    network: {ethernets: {eth0: {VALUE}, NAME: {}}}\n"
	for name, tt := range map[string]struct{ name, value, want string }{
		"good":          {"eth1.5@x", `nameservers: {search: [a.example]}`, ""},
		"line break":    {"eth1", `nameservers: {search: ["x\n[Network]"]}`, "control character U+000A in a value"},
		"separator":     {"eth1", `nameservers: {search: ["x\u2028y"]}`, "control character U+2028"},
		"key":           {"eth1", `dhcp4-overrides: {"x\ny": 1}`, "control character U+000A in a key"},
		"command":       {`"$(reboot)"`, "", "has '$', which not every system's files can say"},
		"blank":         {`"a b"`, "", "holds a blank or a slash"},
		"directory":     {`"../x"`, "", "holds a blank or a slash"},
		"option":        {`"-x"`, "", "is no name"},
		"set-name":      {"eth1", `match: {driver: x}, set-name: "a;b"`, "has ';'"},
		"long set-name": {"eth1", `match: {driver: x}, set-name: abcdefghijklmnop`, "more than 15 bytes"},
		"good pattern":  {"eth1", `match: {name: "e[!a]*", driver: ["ix*"]}`, ""},
		"evil pattern":  {"eth1", `match: {name: "e*;x"}`, "the pattern \"e*;x\" has ';'"},
	} {
		text := strings.NewReplacer("VALUE", tt.value, "NAME", tt.name).Replace(file)
		_, err := Parse("f.yaml", []byte(text))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}
