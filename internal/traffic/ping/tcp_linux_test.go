package ping

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
)

// TestKernelConnects times connections to somebody who listens and to somebody
// who refuses: both answer.
func TestKernelConnects(t *testing.T) {
	for _, at := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		dst := netip.MustParseAddr(at)
		for _, c := range []struct {
			name    string
			src     netip.Addr
			refused int
		}{{"listens", netip.Addr{}, 0}, {"from an address", dst, 0}, {"refuses", netip.Addr{}, 10}} {
			if c.refused > 0 {
				l.Close()
			}
			r, err := Run(t.Context(), agentapi.PingRequest{Dst: dst, Src: c.src, Count: 10, Interval: 5 * time.Millisecond, TCP: port})
			if err != nil || r.Sent != 10 || len(r.RTTs) != 10 || r.Refused != c.refused {
				t.Errorf("%s %s: %+v, %v; want 10 answers, %d refusals", at, c.name, r, err, c.refused)
			}
			for _, rtt := range r.RTTs {
				if rtt <= 0 || rtt > time.Second {
					t.Errorf("%s %s: %v on loopback", at, c.name, rtt)
				}
			}
		}
	}
}

// space is a namespace with one cable, whose far end answers nothing.
func space(t *testing.T) netns.Namespace {
	t.Helper()
	const name = "linerate-test-ping"
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	ns, err := netns.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(name) })
	b, err := rtnl.OpenBuilder(ns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	for _, err := range []error{
		b.Up("lo"), b.Veth("eth0", b, "silent"), b.Address("eth0", netip.MustParsePrefix("192.0.2.1/24")), b.Up("eth0"), b.Up("silent"),
		b.Neighbor("eth0", netip.MustParseAddr("192.0.2.2"), net.HardwareAddr{2, 0, 0, 0, 0, 2}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return ns
}

// TestKernelSilence: who does not answer is lost, and an interrupted series
// ends soon.
func TestKernelSilence(t *testing.T) {
	ns := space(t)
	nobody := agentapi.PingRequest{Dst: netip.MustParseAddr("192.0.2.2"), Count: 3, Interval: 5 * time.Millisecond, Timeout: 50 * time.Millisecond}
	for name, port := range map[string]int{"echo": 0, "connection": 80} {
		r := nobody
		r.TCP = port
		var reply agentapi.PingReply
		err := ns.Do(func() (err error) {
			reply, err = Run(t.Context(), r)
			return err
		})
		if err != nil || reply.Sent != 3 || len(reply.RTTs) != 0 {
			t.Errorf("%s: %+v, %v; want 3 lost", name, reply, err)
		}
		r.Count, r.Interval = 10_000, 100*time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		begin := time.Now()
		err = ns.Do(func() (err error) {
			_, err = Run(ctx, r)
			return err
		})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: interrupted after %v with %v", name, time.Since(begin), err)
		}
	}
}

// TestKernelUnprivileged: a user without any right may send echoes where the
// kernel lets the group, and is refused where it does not.
func TestKernelUnprivileged(t *testing.T) {
	ns := space(t)
	for _, c := range []struct {
		groups string
		want   error
	}{{"0\t65534", nil}, {"1\t0", syscall.EACCES}} {
		for _, at := range []string{"127.0.0.1", "::1"} {
			var reply agentapi.PingReply
			err := ns.Do(func() (err error) {
				if err := sysctl.Write("net.ipv4.ping_group_range", c.groups, true); err != nil {
					return err
				}
				if err := becomeNobody(); err != nil {
					return err
				}
				reply, err = Run(t.Context(), agentapi.PingRequest{Dst: netip.MustParseAddr(at), Count: 5, Interval: 5 * time.Millisecond})
				return err
			})
			if !errors.Is(err, c.want) || c.want == nil && (err != nil || len(reply.RTTs) != 5) {
				t.Errorf("groups %q, %s: %+v, %v; want %v", c.groups, at, reply, err, c.want)
			}
		}
	}
}

// becomeNobody takes every right from the calling thread alone, which must be
// locked and thrown away: package syscall's functions would take them from all.
func becomeNobody() error {
	const nobody = 65534
	runtime.LockOSThread()
	for _, call := range []uintptr{syscall.SYS_SETRESGID, syscall.SYS_SETRESUID} {
		if _, _, errno := syscall.RawSyscall(call, nobody, nobody, nobody); errno != 0 {
			return errno
		}
	}
	return nil
}

func TestRoundTrip(t *testing.T) {
	sent := time.Now()
	read := sent.Add(5 * time.Millisecond)
	for _, c := range []struct {
		name    string
		arrived time.Time
		want    time.Duration
	}{
		{"not said", time.Time{}, 5 * time.Millisecond},
		{"woken late", sent.Add(2 * time.Millisecond), 2 * time.Millisecond},
		{"clock set back", sent.Add(-time.Hour), 5 * time.Millisecond},
		{"clock set forward", sent.Add(time.Hour), 5 * time.Millisecond},
	} {
		if got := roundTrip(sent, read, c.arrived.Round(0)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if !arrival(nil).IsZero() || !arrival([]byte{1, 2, 3}).IsZero() {
		t.Error("a time of arrival out of nothing")
	}
}
