package iperf3client

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// realServer runs the installed iperf3 on a free port until the test ends.
func realServer(t *testing.T, args ...string) netip.AddrPort {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("no iperf3 here: make deps-peers installs it")
	}
	version, _ := exec.Command(path, "--version").Output()
	line, _, _ := strings.Cut(string(version), "\n")
	t.Log(line)
	for port := uint16(25201); port < 25301; port++ {
		if n, err := netip.ParseAddrPort(fmt.Sprintf("127.0.0.1:%d", port)); err != nil || listening(n) {
			continue
		}
		cmd := exec.Command(path, append([]string{"-s", "-p", fmt.Sprint(port)}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		at := netip.AddrPortFrom(loopback, port)
		for begin := time.Now(); !listening(at); time.Sleep(10 * time.Millisecond) {
			if time.Since(begin) > 10*time.Second {
				t.Fatal("iperf3 -s does not listen")
			}
		}
		return at
	}
	t.Fatal("no free port")
	return netip.AddrPort{}
}

// listening reports a listener without connecting: a connection would make
// iperf3 busy.
func listening(at netip.AddrPort) bool {
	out, err := exec.Command("ss", "-Hltn", fmt.Sprintf("sport = :%d", at.Port())).Output()
	return err == nil && len(out) > 0
}

// run carries out one test of a length and returns what both ends say.
func run(t *testing.T, c *Client, req agentapi.IPerf3OpenRequest, length time.Duration) (agentapi.IPerf3OpenReply, []agentapi.Sample, agentapi.IPerf3EndReply) {
	t.Helper()
	ctx := t.Context()
	if req.Session == "" {
		req.Session = t.Name()
	}
	if req.Longest == 0 {
		req.Longest = 30 * time.Second
	}
	if req.Direction == "" {
		req.Direction = flow.Forward
	}
	if req.Streams == 0 {
		req.Streams = 1
	}
	if req.BusyFor == 0 { // iperf3 takes a look at its port for a client until it is gone
		req.BusyFor = 5 * time.Second
	}
	opened, err := c.Open(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(ctx, agentapi.SessionRequest{Session: req.Session}); err != nil {
		t.Fatal(err)
	}
	var samples []agentapi.Sample
	for begin := time.Now(); ; time.Sleep(length / 4) {
		reply, err := c.Sample(ctx, agentapi.SampleRequest{Session: req.Session, Since: len(samples)})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Errors) > 0 {
			t.Fatal(reply.Errors)
		}
		samples = append(samples, reply.Samples...)
		if time.Since(begin) >= length {
			break
		}
	}
	ended, err := c.End(ctx, agentapi.SessionRequest{Session: req.Session})
	if err != nil {
		t.Fatal(err)
	}
	if ended.Why != "" {
		t.Errorf("the server's results: %s", ended.Why)
	}
	return opened, samples, ended
}

// Each option against the installed server: what both ends count agrees.
func TestRealServer(t *testing.T) {
	at := realServer(t)
	c := New(Config{})
	defer c.Close()
	for name, req := range map[string]agentapi.IPerf3OpenRequest{
		"parallel": {Streams: 4, Block: 32 << 10},
		"reverse":  {Direction: flow.Reverse, Streams: 2},
		"both":     {Direction: flow.Both, Streams: 2},
		"options":  {Socket: record.Socket{SndBuf: 256 << 10, RcvBuf: 256 << 10, MSS: 1400, NoDelay: true, Congestion: "reno", DSCP: 10}},
		"udp":      {UDP: true, Rate: 50e6, Streams: 2},
		"udp back": {UDP: true, Rate: 50e6, Direction: flow.Reverse},
		"udp both": {UDP: true, Rate: 50e6, Direction: flow.Both},
		"omit":     {Omit: time.Second, Rate: 100e6},
	} {
		t.Run(name, func(t *testing.T) {
			req.Server, req.Streams = at, max(req.Streams, 1)
			if req.Rate == 0 {
				req.Rate = 200e6
			}
			length := 300 * time.Millisecond
			if req.Omit > 0 {
				length += req.Omit
			}
			opened, samples, ended := run(t, c, req, length)
			if len(opened.Streams) != len(ended.Streams) || len(samples) < 2 {
				t.Fatalf("%d streams, %d results, %d samples", len(opened.Streams), len(ended.Streams), len(samples))
			}
			for i, s := range ended.Streams {
				if s.Server == 0 || s.Own == 0 {
					t.Errorf("stream %d carried %d here and %d there", i, s.Own, s.Server)
				}
				// Datagrams may be lost, and a server on a busy machine ends
				// with bytes unread that were acknowledged.
				arrived, left := float64(s.Server), float64(s.Own)
				if reverse := req.Direction == flow.Reverse || req.Direction == flow.Both && i >= req.Streams; reverse {
					arrived, left = left, arrived
				}
				least := 0.7
				if req.UDP {
					least = 0.2
				}
				if ratio := arrived / left; ratio < least || ratio > 1.1 {
					t.Errorf("stream %d: %.3f of what was sent is said to have arrived", i, ratio)
				}
				if got := float64(s.Server) * 8 / s.ServerSeconds; got > 1.3*float64(req.Rate) {
					t.Errorf("stream %d: %.0f Mb/s at %v", i, got/1e6, req.Rate)
				}
				if !req.UDP && !samples[len(samples)-1].TCP[i].Present {
					t.Errorf("stream %d without TCP_INFO", i)
				}
			}
			if mss := samples[1].TCP; req.Socket.MSS > 0 && mss[0].Last.SndMSS > req.Socket.MSS {
				t.Errorf("MSS %d, asked %d", mss[0].Last.SndMSS, req.Socket.MSS)
			}
			if req.Socket.Congestion != "" && (ended.Congestion != "reno" || opened.Streams[0].Socket.Congestion != "reno") {
				t.Errorf("congestion control %s there, %+v here", ended.Congestion, opened.Streams[0].Socket)
			}
		})
	}
}

func TestChosenPorts(t *testing.T) {
	at := realServer(t)
	c := New(Config{})
	defer c.Close()
	want := []uint16{41001, 41004, 41002}
	opened, _, _ := run(t, c, agentapi.IPerf3OpenRequest{Server: at, Streams: 3, Sports: want, Rate: 50e6}, 200*time.Millisecond)
	for i, s := range opened.Streams {
		if s.Sport != want[i] || s.Dport != at.Port() || s.Src != loopback {
			t.Errorf("stream %d: %+v", i, s)
		}
	}
	// The ports are free again, and the same flows may follow at once.
	run(t, c, agentapi.IPerf3OpenRequest{Server: at, Streams: 3, Sports: want, Rate: 50e6}, 200*time.Millisecond)
}

func TestBusy(t *testing.T) {
	at := realServer(t)
	c := New(Config{})
	defer c.Close()
	ctx := t.Context()
	first := agentapi.IPerf3OpenRequest{Session: "first", Server: at, Streams: 1, Direction: flow.Forward, Longest: time.Minute, Rate: 10e6}
	if _, err := c.Open(ctx, first); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(ctx, agentapi.SessionRequest{Session: "first"}); err != nil {
		t.Fatal(err)
	}
	second := first
	second.Session = "second"
	if _, err := c.Open(ctx, second); !errors.Is(err, ErrBusy) {
		t.Errorf("a busy server: %v", err)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		_, _ = c.End(context.Background(), agentapi.SessionRequest{Session: "first"})
	})
	second.BusyFor = 20 * time.Second
	opened, err := c.Open(ctx, second)
	if err != nil || opened.Waited == 0 {
		t.Errorf("waited %v: %v", opened.Waited, err)
	}
}
