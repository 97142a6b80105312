package externaltool

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/socket"
)

var loopback = netip.MustParseAddr("127.0.0.1")

func server() agentapi.ToolRequest {
	return agentapi.ToolRequest{
		Session: "in", Tool: agentapi.ToolIPerf2, Role: agentapi.ToolServer, Own: loopback, Port: 25901, Streams: 1,
		Interval: 500 * time.Millisecond, Lifetime: time.Minute,
	}
}

func sending(to uint16) agentapi.ToolRequest {
	return agentapi.ToolRequest{
		Session: "out", Tool: agentapi.ToolIPerf2, Role: agentapi.ToolClient, Own: loopback, Peer: netip.AddrPortFrom(loopback, to),
		Streams: 2, Length: time.Second, Interval: 500 * time.Millisecond, Rate: 50e6, Lifetime: time.Minute,
	}
}

func TestArguments(t *testing.T) {
	full := sending(5001)
	full.Window, full.Block, full.MSS, full.NoDelay, full.Congestion = 1<<20, 131072, 1400, true, "reno"
	six := server()
	six.Own, six.UDP = netip.MustParseAddr("2001:db8::1"), true
	hasty := server()
	hasty.Interval = 20 * time.Millisecond
	for want, req := range map[string]agentapi.ToolRequest{
		"-e -y C -s -p 25901 -B 127.0.0.1 -t 60.0 -i 0.1":                                                                  hasty,
		"-e -y C -s -p 25901 -B 127.0.0.1 -t 60.0 -i 0.5":                                                                  server(),
		"-e -y C -s -p 25901 -B 2001:db8::1 -t 60.0 -V -u -i 0.5":                                                          six,
		"-e -y C -c 127.0.0.1 -p 5001 -B 127.0.0.1 -P 2 -t 1.0 -i 0.5 -w 1048576 -l 131072 -M 1400 -N -Z reno -b 50000000": full,
	} {
		if err := check(req); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if diff := cmp.Diff(want, strings.Join(arguments(req), " ")); diff != "" {
			t.Error(diff)
		}
	}
}

// What is no plain value is refused before anything runs.
func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(*agentapi.ToolRequest){
		"tool":       func(r *agentapi.ToolRequest) { r.Tool = "sh" },
		"role":       func(r *agentapi.ToolRequest) { r.Role = "-s" },
		"own":        func(r *agentapi.ToolRequest) { r.Own = netip.Addr{} },
		"peer":       func(r *agentapi.ToolRequest) { r.Peer = netip.AddrPort{} },
		"family":     func(r *agentapi.ToolRequest) { r.Own = netip.IPv6Loopback() },
		"streams":    func(r *agentapi.ToolRequest) { r.Streams = 100000 },
		"length":     func(r *agentapi.ToolRequest) { r.Length = 0 },
		"lifetime":   func(r *agentapi.ToolRequest) { r.Lifetime = 0 },
		"congestion": func(r *agentapi.ToolRequest) { r.Congestion = "reno -x" },
		"option":     func(r *agentapi.ToolRequest) { r.Congestion = "-F/etc/passwd" },
		"rate":       func(r *agentapi.ToolRequest) { r.Rate = -1 },
		"session":    func(r *agentapi.ToolRequest) { r.Session = "" },
	} {
		req := sending(5001)
		spoil(&req)
		if _, err := New(Config{}).Start(t.Context(), req); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func needIPerf(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("iperf")
	if err != nil {
		t.Skip("no iperf 2 here: make deps-peers installs it")
	}
	said, _ := exec.Command(path, "-v").CombinedOutput()
	t.Log(strings.TrimSpace(string(said)))
}

// Both roles of the installed program: rows with times from both, and the
// port of a server that runs is taken.
func TestRun(t *testing.T) {
	needIPerf(t)
	r := New(Config{})
	defer r.Close()
	req := server()
	var reply agentapi.ToolReply
	var err error
	for ; ; req.Port++ {
		if reply, err = r.Start(t.Context(), req); !errors.Is(err, agentapi.ErrPortTaken) || req.Port > 25950 {
			break
		}
	}
	if err != nil || !strings.HasPrefix(reply.Version, "iperf version 2") {
		t.Fatalf("%+v: %v", reply, err)
	}
	second := req
	second.Session = "second"
	if _, err := r.Start(t.Context(), second); !errors.Is(err, agentapi.ErrPortTaken) {
		t.Errorf("a port in use: %v", err)
	}
	if _, err := r.Start(t.Context(), sending(req.Port)); err != nil {
		t.Fatal(err)
	}
	client, err := r.End(t.Context(), agentapi.ToolEndRequest{Session: "out"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.End(t.Context(), agentapi.ToolEndRequest{Session: "in"})
	if err != nil {
		t.Fatal(err)
	}
	for name, reply := range map[string]agentapi.ToolEndReply{"client": client, "server": got} {
		if len(reply.Streams) != 2 {
			t.Fatalf("%s: %d streams", name, len(reply.Streams))
		}
		for _, s := range reply.Streams {
			rate := float64(s.Total.Bytes) * 8 / s.Total.Until.Sub(s.Total.From).Seconds()
			if len(s.Rows) < 2 || s.Server.Port() != req.Port || rate < 35e6 || rate > 65e6 {
				t.Errorf("%s: %d rows to %s, %.0f bit/s", name, len(s.Rows), s.Server, rate)
			}
		}
	}
	if _, err := r.End(t.Context(), agentapi.ToolEndRequest{Session: "in"}); !errors.Is(err, socket.ErrSession) {
		t.Errorf("ended twice: %v", err)
	}
}

func (r *Runner) running(session string) *run {
	one, _ := r.runs.Get(session)
	return one
}

// A client without a server says why; a program ends with its lifetime, and
// with its runner.
func TestEnds(t *testing.T) {
	needIPerf(t)
	r := New(Config{})
	req := sending(25999)
	if _, err := r.Start(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := r.End(t.Context(), agentapi.ToolEndRequest{Session: "out"}); err == nil || !strings.Contains(fmt.Sprint(err), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	short := server()
	short.Port, short.Lifetime = 25960, 400*time.Millisecond
	if _, err := r.Start(t.Context(), short); err != nil {
		t.Fatal(err)
	}
	one := r.running("in")
	select {
	case <-one.exited:
	case <-time.After(20 * time.Second):
		t.Error("it outlived its lifetime")
	}
	short.Lifetime = time.Minute
	if _, err := r.Start(t.Context(), short); err != nil {
		t.Fatal(err)
	}
	one = r.running("in")
	r.Close()
	select {
	case <-one.exited:
	default:
		t.Error("it outlived its runner")
	}
}
