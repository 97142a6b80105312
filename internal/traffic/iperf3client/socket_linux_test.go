package iperf3client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// full is an address of loopback where connections wait without an end: its
// listener's queue is full and nobody takes from it.
func full(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: loopback.As4()}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.AddrPortFrom(loopback, uint16(name.(*syscall.SockaddrInet4).Port))
	for range 16 {
		c, err := net.DialTimeout("tcp", at.String(), 200*time.Millisecond)
		if err != nil {
			return at
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Fatal("a queue of none takes 16 connections")
	return at
}

// Connecting ends with its context, and with its time, whichever is first.
func TestConnectEnds(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	tcp, udp := full(t), netip.MustParseAddrPort(silent.LocalAddr().String())
	for name, tt := range map[string]struct {
		at        netip.AddrPort
		udp       bool
		cancelled bool
		timeout   time.Duration
		want      error
	}{
		"tcp, interrupted": {at: tcp, cancelled: true, timeout: time.Minute, want: context.Canceled},
		"udp, interrupted": {at: udp, udp: true, cancelled: true, timeout: time.Minute, want: context.Canceled},
		"tcp, too late":    {at: tcp, timeout: 300 * time.Millisecond, want: ErrSilent},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if tt.cancelled {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		s, err := openSocket(netns.Namespace{}, netip.AddrPortFrom(loopback, 0), tt.at, kindOf(agentapi.IPerf3OpenRequest{UDP: tt.udp}), record.Socket{})
		if err != nil {
			t.Fatal(err)
		}
		s.hello = knock
		begun := time.Now()
		err = s.connect(ctx, tt.timeout)
		s.close()
		if took := time.Since(begun); !errors.Is(err, tt.want) || took > 20*time.Second {
			t.Errorf("%s: %v after %v, want %v at once", name, err, took, tt.want)
		}
	}
}
