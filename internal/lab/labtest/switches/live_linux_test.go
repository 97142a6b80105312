package switches

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// TestLiveReadsSwitches: while a program sends over a trunk, explain --live at its host says
// what each member of the trunk carried, which the host cannot see.
func TestLiveReadsSwitches(t *testing.T) {
	needRoot(t)
	left, _, hosts, file := stand(t)
	const port = ":9077"
	floor.Must(t, hosts[1].NS.Do(func() error {
		l, err := net.Listen("tcp", port)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, c) }()
			}
		}()
		return nil
	}))
	floor.Must(t, hosts[0].NS.Do(func() error {
		c, err := net.Dial("tcp", "10.78.0.2"+port)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = c.Close() })
		go func() {
			for b := make([]byte, 1<<16); ; {
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		}()
		return nil
	}))
	var said struct {
		Flows    []struct{ Findings []record.Finding }
		Switches []record.SwitchUse
	}
	floor.Must(t, json.Unmarshal(linerate(t, left.Space, "explain", "--live", "netns:"+hosts[0].NS.Name, "--fabric", file, "--duration", "15s", "--json"), &said))
	if len(said.Flows) != 1 || len(said.Flows[0].Findings) != 1 {
		t.Fatalf("flows: %+v", said.Flows)
	}
	now := shares(t, record.Trial{Switches: said.Switches})
	found := said.Flows[0].Findings[0]
	t.Logf("members %.3f; %s (%.2f): %s\n%+v", now, found.Cause, found.Confidence, found.Summary, found.Evidence)
	if max(now[0], now[1]) < 0.95 {
		t.Errorf("one connection on the members: %v", now)
	}
	if said := fmt.Sprint(found.Evidence); !strings.Contains(said, "port t0 of switch left to right") || !strings.Contains(said, "port t1 of switch left to right") {
		t.Errorf("the members are no evidence: %s", said)
	}
}
