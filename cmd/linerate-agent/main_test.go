package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// A controller of another protocol is refused, as linerate's own agent refuses it.
func TestVersionOfController(t *testing.T) {
	for version, want := range map[int]bool{agentapi.Version: true, agentapi.Version + 1: false, agentapi.Version - 1: false} {
		request, err := json.Marshal(agentapi.Request{ID: 1, Method: agentapi.Hello.Name, Params: json.RawMessage(fmt.Sprintf(`{"version":%d}`, version))})
		if err != nil {
			t.Fatal(err)
		}
		var out, said strings.Builder
		if status := run([]string{"agent", "--stdio"}, strings.NewReader(string(request)+"\n"), &out, &said); status != 0 {
			t.Fatalf("version %d: status %d: %s", version, status, said.String())
		}
		var reply agentapi.Reply
		if err := json.Unmarshal([]byte(out.String()), &reply); err != nil {
			t.Fatalf("version %d: %v: %s", version, err, out.String())
		}
		if (reply.Error == nil) != want {
			t.Errorf("version %d: %s", version, out.String())
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		out    string // in one of its streams
	}{
		{"--version", 0, "linerate version dev\n"}, {"", 0, "linerate-agent agent --stdio"}, {"--help", 0, "linerate-agent agent --stdio"},
		{"measure", badUsage, `unknown command "measure"`}, {"agent --most change", badUsage, "agent: flag provided but not defined"}, {"agent x", badUsage, "takes no arguments"},
		{"agent", failed, "by --stdio alone"}, {"recover", failed, "want --boot"},
	} {
		var out, said strings.Builder
		status := run(strings.Fields(c.args), strings.NewReader(""), &out, &said)
		if status != c.status || !strings.Contains(out.String()+said.String(), c.out) {
			t.Errorf("%q: status %d, %q %q; want %d and %q", c.args, status, out.String(), said.String(), c.status, c.out)
		}
	}
}
