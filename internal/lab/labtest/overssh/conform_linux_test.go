package overssh

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/fleet/conform"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestConformance holds ssh to what every transport does: to root, and to a user
// who becomes root.
func TestConformance(t *testing.T) {
	if why := missing(); why != "" {
		t.Skip(why)
	}
	for name, reach := range map[string]string{"root": "ssh://root@%s", "a user with sudo": "ssh://ann@%s?become=sudo"} {
		t.Run(name, func(t *testing.T) {
			if name == "root" {
				long(t)
			}
			shared := &fleet.SSH{Program: agent}
			conform.Run(t, conform.Transport{
				Prepare: func(t testing.TB, ends [2]conform.End) {
					r := &rack{t: t, desk: floor.Space{NS: ends[0].NS}}
					r.client()
					shared.Dir = r.temp
					for _, e := range ends {
						r.hosts = append(r.hosts, newHost(t, floor.Space{NS: e.NS}, e.Name, e.Addr, hosting{}))
					}
					r.trust()
					t.(*testing.T).Setenv("PATH", r.path+":"+os.Getenv("PATH"))
					t.Cleanup(func() {
						floor.Must(t, shared.Close())
						for _, h := range r.hosts { // a way back that was asked for has its journal
							floor.Must(t, os.RemoveAll(filepath.Join(h.root, "var/lib/linerate")))
						}
						r.clean()
					})
				},
				Dial: func(t testing.TB, at conform.End) *fleet.Host {
					h, err := fleet.Dial(t.Context(), at.Name, fmt.Sprintf(reach, at.Addr), fleet.Config{SSH: shared})
					floor.Must(t, err)
					return h
				},
			})
		})
	}
}
