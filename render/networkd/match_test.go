package networkd

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/unitfile"
)

// TestMatchesOfSeveralLines: a file's [Match] sections and the lines of one key are one
// condition, read and when the file is changed in place: what selects two devices is not
// changed for one of them, and what selects one is.
func TestMatchesOfSeveralLines(t *testing.T) {
	const rest = "[Network]\nDHCP=yes\n"
	for name, c := range map[string]struct {
		match string
		read  string // device IDs, with what matches them
		file  string // that is changed for e1
	}{
		"one line":               {"[Match]\nName=e1\n", "e1", "10-a.network"},
		"two sections, one name": {"[Match]\nName=e1\n[Match]\nMACAddress=02:00:00:00:00:01\n", "e1", "10-a.network"},
		"two sections, another":  {"[Match]\nName=e1\n[Match]\nName=e2\n", "e1 e2", "00-linerate-e1.network"},
		"two lines":              {"[Match]\nName=e2\nName=e1\n", "e2 e1", "00-linerate-e1.network"},
		"two patterns":           {"[Match]\nName=en*\nName=e*\n", "en_ e_", "00-linerate-e1.network"},
		"an emptied list":        {"[Match]\nName=e2\nName=\nName=e1\n", "e1", "10-a.network"},
		"emptied in another":     {"[Match]\nName=e2\n[Match]\nName=\nName=e1\n", "e1", "10-a.network"},
		"all but another":        {"[Match]\nName=!e2\n", "", "00-linerate-e1.network"},
		"any Ethernet device":    {"[Match]\nType=ether\nKind=!*\n", "10-a", "00-linerate-e1.network"},
		"another":                {"[Match]\nName=e2\n", "e2", "20-e1.network"},
		"of one machine":         {"[Match]\nName=e1\nHost=b\n", "", "20-e1.network"},
	} {
		t.Run(name, func(t *testing.T) {
			found, _ := Read(map[string]string{"/etc/systemd/network/10-a.network": c.match + rest})
			var ids []string
			if f, err := fabric.Parse("f.yaml", found.FabricFile("h")); err == nil {
				h, _ := f.Host("h")
				for _, e := range h.Network.Ethernets {
					ids = append(ids, e.ID)
				}
			}
			if got := strings.Join(ids, " "); got != c.read {
				t.Errorf("read as %q, want %q", got, c.read)
			}
			f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts: {h: {network: {ethernets: {e1: {match: {macaddress: '02:00:00:00:00:01'}, set-name: e1, addresses: [192.0.2.9/24]}, e2: {}}}}}\n"))
			if err != nil {
				t.Fatal(err)
			}
			h, _ := f.Host("h")
			state, err := f.State("h")
			if err != nil {
				t.Fatal(err)
			}
			out, err := Write(render.Input{Host: h, State: state, Old: map[string]string{"/etc/systemd/network/10-a.network": c.match + rest}})
			if err != nil {
				t.Fatal(err)
			}
			changed := ""
			for _, w := range out.Files {
				if strings.HasSuffix(w.Path, ".network") && strings.Contains(w.Text, "192.0.2.9/24") {
					changed += strings.TrimPrefix(w.Path, "/etc/systemd/network/")
				}
			}
			for _, w := range out.Files {
				if strings.HasSuffix(w.Path, "00-linerate-e1.network") && !(conditionsOf(unitfile.Read(w.Text, nil)).alone() && strings.Count(w.Text, "[Match]") == 1) {
					t.Errorf("not of e1 alone:\n%s", w.Text)
				}
			}
			if changed != c.file {
				t.Errorf("%q is changed, want %q\n%+v", changed, c.file, out.Files)
			}
		})
	}
}
