package probing

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/probe"
)

// TestWithoutBonds: two cables, each with addresses of its own, are two links
// on every side; which one a flow takes is the addresses' choice.
func TestWithoutBonds(t *testing.T) {
	near, far := floor.NewSpace(t, "cables-near"), floor.NewSpace(t, "cables-far")
	for i := range 2 {
		name := fmt.Sprintf("eth%d", i)
		floor.Must(t, near.Builder.Veth(name, far.Builder, name))
		for end, s := range []floor.Space{near, far} {
			floor.Must(t, s.Builder.Up(name))
			floor.Must(t, s.Builder.Address(name, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 7, byte(i), byte(1 + end)}), 24)))
		}
	}
	cfg := probe.Config{A: end(t, near, "near"), B: end(t, far, "far")}
	var err error
	cfg.Lanes, err = probe.Lanes(cfg.A.Host, cfg.B.Host, "")
	floor.Must(t, err)
	if len(cfg.Lanes) != 2 {
		t.Fatalf("lanes %v, want the two of one subnet each", cfg.Lanes)
	}
	t.Run("even", func(t *testing.T) {
		report, err := probe.Run(t.Context(), cfg)
		floor.Must(t, err)
		if !report.Even || report.Found > 6 || len(report.Streams) != 2 {
			t.Errorf("%+v", report)
		}
		for _, s := range report.Streams {
			if a, b := s.Links[hashsurvey.NearOut], s.Links[hashsurvey.FarIn]; a != b || a == "" {
				t.Errorf("%+v: left by %s and came by %s", s, a, b)
			}
		}
	})
	t.Run("port in use", func(t *testing.T) { portInUse(t, cfg) })
	t.Run("source port taken", func(t *testing.T) { sourceTaken(t, cfg) })
	t.Run("interrupted", func(t *testing.T) { interrupted(t, cfg) })
	t.Run("one address lost", func(t *testing.T) { laneLost(t, cfg) })
}

func end(t *testing.T, s floor.Space, name string) probe.End {
	t.Helper()
	h, err := fleet.Dial(t.Context(), name, "netns:"+s.NS.Name, fleet.Config{Version: "test", Unguarded: true})
	floor.Must(t, err)
	t.Cleanup(func() { h.Close() })
	reply, err := h.Observe(t.Context())
	floor.Must(t, err)
	reply.Host.Name = name
	return probe.End{At: h, Host: reply.Host}
}

// portInUse: another listener on B's port is an error that says so.
func portInUse(t *testing.T, cfg probe.Config) {
	_, err := ask.Call(t.Context(), cfg.B.At, agentapi.OpenSink, agentapi.SinkRequest{
		Session: "other", Bind: []netip.Addr{cfg.Lanes[0].Dst, cfg.Lanes[1].Dst}, Port: 5201, Streams: 1, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	defer ask.Call(t.Context(), cfg.B.At, agentapi.Finish, agentapi.SessionRequest{Session: "other"})
	if _, err := probe.Run(t.Context(), cfg); !errors.Is(err, probe.ErrPortUse) {
		t.Errorf("%v, want ErrPortUse", err)
	}
	cfg.Dport = 5301
	report, err := probe.Run(t.Context(), cfg)
	floor.Must(t, err)
	if !report.Even || report.Streams[0].Dport != 5301 {
		t.Errorf("on another port: %+v", report)
	}
}

// sourceTaken: a source port that somebody holds is passed over.
func sourceTaken(t *testing.T, cfg probe.Config) {
	cfg.Ports = flow.PortRange{First: 42000, Last: 42002}
	hold := agentapi.SinkRequest{Session: "hold", Bind: []netip.Addr{cfg.Lanes[0].Src, cfg.Lanes[1].Src}, Port: 42001, Streams: 1, Lifetime: time.Minute}
	reply, err := ask.Call(t.Context(), cfg.A.At, agentapi.OpenSink, hold)
	floor.Must(t, err)
	defer ask.Call(t.Context(), cfg.A.At, agentapi.Finish, agentapi.SessionRequest{Session: "hold"})
	if reply.Port != 42001 {
		t.Fatalf("port %d", reply.Port)
	}
	report, err := probe.Run(t.Context(), cfg)
	floor.Must(t, err)
	if !report.Even || slices.Contains(report.Ports, 42001) {
		t.Errorf("%+v", report)
	}
}

// interrupted: what was seen is reported, and nothing is left open.
func interrupted(t *testing.T, cfg probe.Config) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Streams, cfg.LLDP = 8, time.Minute
	cfg.Progress = func(l probe.Look) {
		if l.Number == 2 {
			cancel()
		}
	}
	begun := time.Now()
	report, err := probe.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) || report.Probes != 2 || time.Since(begun) > 10*time.Second {
		t.Errorf("%d looked at, %v after %v", report.Probes, err, time.Since(begun))
	}
	if len(report.Streams) == 0 {
		t.Error("what was seen makes no set")
	}
	cfg.Streams, cfg.LLDP, cfg.Progress = 0, 0, nil
	if report, err := probe.Run(t.Context(), cfg); err != nil || !report.Even {
		t.Errorf("afterwards: %v, %+v", err, report)
	}
}

// laneLost: an address that is gone by now is a note, and the rest is probed.
func laneLost(t *testing.T, cfg probe.Config) {
	gone := netip.MustParseAddr("10.7.0.77")
	l, _ := cfg.B.Host.Link("eth0")
	l.Addresses = append(slices.Clone(l.Addresses), netip.PrefixFrom(gone, 24))
	cfg.B.Host = cfg.B.Host.Clone()
	cfg.B.Host.SetLink(l)
	cfg.Lanes = append([]flow.Lane{{Src: cfg.Lanes[0].Src, Dst: gone}}, cfg.Lanes...)
	cfg.Streams = 8 // so many that every pair of addresses is tried
	report, err := probe.Run(t.Context(), cfg)
	floor.Must(t, err)
	if !report.Even || len(report.Notes) != 1 {
		t.Errorf("notes %v, %+v", report.Notes, report.Streams)
	}
}
