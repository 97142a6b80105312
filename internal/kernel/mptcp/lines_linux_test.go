package mptcp

import (
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// TestKernelPrintedLines types the lines that steer prints for a plan and
// compares what the kernel then has with the plan, and what it has after the
// lines that take the plan back with what it had before.
func TestKernelPrintedLines(t *testing.T) {
	for _, program := range []string{"sh", "ip", "sysctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	plan, err := subflow.Plan(subflow.SubflowRequest{
		Near: steer.Declared(netstate.Layer23, 4), Client: netip.MustParseAddr("10.9.0.1"), Server: netip.MustParseAddr("10.9.0.2"),
		Subnet: netip.MustParsePrefix("10.9.0.0/24"),
	})
	if err != nil {
		t.Fatal(err)
	}
	announced := plan // the server's half, as if aliases of its own were needed
	announced.AddFar = plan.AddNear
	announced.Server.Endpoints = append([]netstate.MPTCPEndpoint(nil), plan.Client.Endpoints...)
	for i := range announced.Server.Endpoints {
		announced.Server.Endpoints[i].Flags = netstate.MPTCPSignal
	}
	lo := snippet.SubflowHost{Device: "lo"}
	for name, c := range map[string]struct {
		lines snippet.SubflowCommands
		want  netstate.MPTCP
	}{
		"client": {snippet.SubflowClient(plan, lo, 24), plan.Client},
		"server": {snippet.SubflowServer(announced, lo, 24), announced.Server},
	} {
		t.Run(name, func(t *testing.T) {
			inNamespace(t, func(h *Handle) {
				before, addresses := readAll(t, h)
				if strings.Contains(addresses, "10.9.0.") {
					t.Errorf("addresses before: %s", addresses)
				}
				shell(t, c.lines.Set)
				set, now := readAll(t, h)
				if diff := cmp.Diff(c.want, set, compareAddr); diff != "" {
					t.Errorf("after the lines (-planned +kernel):\n%s", diff)
				}
				for _, e := range c.want.Endpoints {
					if !strings.Contains(now, " "+e.Addr.String()+"/24 ") {
						t.Errorf("no %s among the addresses %s", e.Addr, now)
					}
				}
				shell(t, c.lines.Rollback)
				after, gone := readAll(t, h)
				if diff := cmp.Diff(before, after, compareAddr); diff != "" || strings.Contains(gone, "10.9.0.") {
					t.Errorf("after taking back: %s (-before +after):\n%s", gone, diff)
				}
			})
		})
	}
}

func readAll(t *testing.T, h *Handle) (netstate.MPTCP, string) {
	t.Helper()
	m, err := h.Read()
	if err != nil {
		t.Error(err)
	}
	return m, shell(t, []string{"ip -4 -oneline addr show"})
}

// shell runs lines as a person would, on this thread and so in its namespace.
func shell(t *testing.T, lines []string) string {
	t.Helper()
	out, err := exec.Command("sh", "-e", "-c", strings.Join(lines, "\n")).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v: %s", lines, err, out)
	}
	return string(out)
}
