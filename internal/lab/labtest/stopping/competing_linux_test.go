package stopping

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// competing is other traffic on the link: datagrams at a rate, in bursts and
// pauses of random length with the same mean.
type competing struct {
	rate unit.BitRate // while it sends
	mean time.Duration
	// Each part of a seed is another stretch of the same traffic.
	seed, part uint64
}

const payload = 1400

// run sends until the test ends, from one namespace to the other.
func (c competing) run(t *testing.T, from, to floor.Space, dst netip.Addr) {
	t.Helper()
	var out, in net.PacketConn
	floor.Must(t, to.NS.Do(func() (err error) {
		in, err = net.ListenPacket("udp4", netip.AddrPortFrom(dst, 9999).String())
		return err
	}))
	floor.Must(t, from.NS.Do(func() (err error) {
		out, err = net.ListenPacket("udp4", ":0")
		return err
	}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-done
		out.Close()
		in.Close()
	})
	go func() {
		defer close(done)
		c.send(ctx, out, net.UDPAddrFromAddrPort(netip.AddrPortFrom(dst, 9999)))
	}()
}

// send follows the clock: what is due by now is sent at once, so that a timer
// that is late changes the moment and not the amount.
func (c competing) send(ctx context.Context, out net.PacketConn, to net.Addr) {
	random := rand.New(rand.NewPCG(c.seed, c.part))
	next := func() float64 { return random.ExpFloat64() * c.mean.Seconds() }
	datagram := make([]byte, payload)
	begin := time.Now()
	at, until, on, due := 0.0, next(), random.IntN(2) == 0, 0.0
	for ctx.Err() == nil {
		for now := time.Since(begin).Seconds(); at < now; {
			step := min(until, now) - at
			if on {
				due += float64(c.rate) / 8 * step
			}
			if at += step; at >= until {
				on, until = !on, until+next()
			}
		}
		for ; due >= payload; due -= payload {
			if _, err := out.WriteTo(datagram, to); err != nil {
				break // the queue is full: lost, as on any link
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}
