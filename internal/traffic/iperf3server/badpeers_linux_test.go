package iperf3server

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// hasty are limits that tests need not wait long for.
func hasty() Config {
	return Config{cookie: 300 * time.Millisecond, answer: 600 * time.Millisecond, Idle: time.Second}
}

// TestStalls: a client that stops at each stage is told why, where there are
// words, and goes; the next is served while it dawdles and after.
func TestStalls(t *testing.T) {
	r := serve(t, hasty())
	running := func(p *peer, params iperf3.Parameters) {
		p.ask(params)
		p.open(1)
		p.want(iperf3.TestStart, iperf3.TestRunning)
	}
	long := iperf3.Parameters{TCP: true, Parallel: 1, Time: 60, Block: 128 << 10}
	var working sync.WaitGroup
	for name, stall := range map[string]func(*peer){
		"before the cookie": func(p *peer) { p.gone() },
		"in the cookie":     func(p *peer) { p.write([]byte("half")); p.gone() },
		"before parameters": func(p *peer) { p.write(p.cookie[:]); p.want(iperf3.ParamExchange); p.fault(iperf3.ReasonParameters) },
		"in the parameters": func(p *peer) {
			p.write(p.cookie[:])
			p.want(iperf3.ParamExchange)
			p.write([]byte("\x00\x00\x10\x00{"))
			p.fault(iperf3.ReasonParameters)
		},
		"before the streams": func(p *peer) { p.ask(long); p.want(iperf3.CreateStreams); p.fault(iperf3.ReasonAcceptStream) },
		"between the streams": func(p *peer) {
			two := long
			two.Parallel = 2
			p.ask(two)
			p.open(1)
			p.fault(iperf3.ReasonAcceptStream)
		},
		"a stream now and then": func(p *peer) {
			many := long
			many.Parallel = 20
			p.ask(many)
			p.want(iperf3.CreateStreams)
			for range many.Parallel { // each in time, all of them too late
				time.Sleep(p.r.cfg.answer / 2)
				if _, err := connect(p.t, p.r, "127.0.0.1").Write(p.cookie[:]); err != nil {
					break
				}
			}
			p.fault(iperf3.ReasonAcceptStream)
		},
		"a byte now and then": func(p *peer) {
			p.ask(long)
			c := p.open(1)[0]
			p.want(iperf3.TestStart, iperf3.TestRunning)
			for begin := time.Now(); ; time.Sleep(p.r.cfg.Idle / 5) {
				if _, err := c.Write([]byte("x")); err != nil {
					break
				}
				if time.Since(begin) > 10*p.r.cfg.Idle {
					p.t.Fatal("a byte now and then keeps a test")
				}
			}
			p.fault(iperf3.ReasonIdle)
		},
		"before UDP streams": func(p *peer) {
			udp := iperf3.Parameters{UDP: true, Parallel: 1, Time: 60, Block: 1400}
			p.ask(udp)
			p.want(iperf3.CreateStreams)
			p.fault(iperf3.ReasonAcceptStream)
		},
		"sending nothing": func(p *peer) { running(p, long); p.fault(iperf3.ReasonIdle) },
		// Attack 12: long gaps that the client itself asks for are no reason to wait.
		"sending nothing at a slow rate": func(p *peer) {
			slow := long
			slow.Rate, slow.Burst, slow.Block, slow.Time = 1, 1000, 1<<20, 86400
			running(p, slow)
			p.fault(iperf3.ReasonIdle)
		},
		"reading nothing": func(p *peer) {
			back := long
			back.Reverse = true
			running(p, back)
			p.fault(iperf3.ReasonIdle)
		},
		"before results": func(p *peer) {
			running(p, long)
			p.write([]byte{iperf3.TestEnd.Byte()})
			p.want(iperf3.ExchangeResults)
			p.fault(iperf3.ReasonResults)
		},
	} {
		// Not t.Parallel: that is as many as processors, and these wait.
		working.Go(func() {
			t.Run(name, func(t *testing.T) {
				stall(newPeer(t, r))
				good(t, r, small("after stall "+name))
			})
		})
	}
	working.Wait()
}

// TestLies: lengths and words that are not so.
func TestLies(t *testing.T) {
	r := serve(t, hasty())
	framed := func(length uint32, text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, length), text...)
	}
	honest := func(text string) []byte { return framed(uint32(len(text)), text) }
	for name, tt := range map[string]struct {
		said []byte
		want iperf3.Reason
	}{
		"huge length":       {framed(1<<31-1, "{}"), iperf3.ReasonParameters},
		"negative length":   {framed(1<<32-5, "{}"), iperf3.ReasonParameters},
		"no length":         {framed(0, ""), iperf3.ReasonParameters},
		"beyond the limit":  {framed(iperf3.MaxParameters+1, "{}"), iperf3.ReasonParameters},
		"no JSON":           {honest("garbage"), iperf3.ReasonParameters},
		"no object":         {honest("null"), iperf3.ReasonParameters},
		"a billion streams": {honest(`{"tcp":true,"parallel":1000000000}`), iperf3.ReasonStreams},
		"no streams":        {honest(`{"tcp":true}`), iperf3.ReasonStreams},
		"absurd -l":         {honest(`{"tcp":true,"parallel":1,"len":1e18}`), iperf3.ReasonBlock},
		"absurd -w":         {honest(`{"tcp":true,"parallel":1,"window":1e15}`), iperf3.ReasonWindow},
		"absurd -t":         {honest(`{"tcp":true,"parallel":1,"time":1e15}`), iperf3.ReasonDuration},
		"no such algorithm": {honest(`{"tcp":true,"parallel":1,"time":1,"congestion":"nope"}`), iperf3.ReasonCongestion},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, r)
			p.write(p.cookie[:])
			p.want(iperf3.ParamExchange)
			p.write(tt.said)
			if tt.want == iperf3.ReasonCongestion {
				p.open(1)
			}
			p.fault(tt.want)
		})
	}
	t.Run("no cookie", func(t *testing.T) {
		p := newPeer(t, r)
		p.write([]byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\nand so on"))
		p.gone()
	})
	t.Run("no state", func(t *testing.T) {
		p := newPeer(t, r)
		p.ask(iperf3.Parameters{TCP: true, Parallel: 1, Time: 60})
		p.open(1)
		p.want(iperf3.TestStart, iperf3.TestRunning)
		p.write([]byte{99})
		p.fault(iperf3.ReasonMessage)
	})
	t.Run("more streams than asked for", func(t *testing.T) {
		p := newPeer(t, r)
		p.ask(iperf3.Parameters{TCP: true, Parallel: 1, Time: 60})
		p.open(1)
		p.want(iperf3.TestStart, iperf3.TestRunning)
		extra := &peer{t: t, r: r, c: connect(t, r, "127.0.0.1")}
		extra.write(p.cookie[:])
		extra.gone()
	})
	good(t, r, small("after lies"))
}

// TestVanishes: a client that goes in the middle, with and without a word.
func TestVanishes(t *testing.T) {
	r := serve(t, hasty())
	for name, leave := range map[string]func(*peer){
		"close":     func(p *peer) { _ = p.c.Close() },
		"reset":     func(p *peer) { _ = p.c.SetLinger(0); _ = p.c.Close() },
		"terminate": func(p *peer) { p.write([]byte{iperf3.ClientTerminate.Byte()}); p.gone() },
	} {
		for _, reverse := range []iperf3.Flag{false, true} {
			title := name
			if reverse {
				title += " reverse"
			}
			t.Run(title, func(t *testing.T) {
				p := newPeer(t, r)
				p.ask(iperf3.Parameters{TCP: true, Parallel: 2, Time: 60, Reverse: reverse, Title: title})
				streams := p.open(2)
				p.want(iperf3.TestStart, iperf3.TestRunning)
				leave(p)
				test := r.done(t, title)
				if test.Err == nil || test.Window > 20*time.Second {
					t.Errorf("ended after %s with %v", test.Window, test.Err)
				}
				for _, c := range streams {
					for err := error(nil); err == nil; { // until the listener ends it
						_, err = c.Read(make([]byte, 1<<20))
						if isTimeout(err) {
							t.Fatal("the listener still sends")
						}
					}
				}
			})
		}
	}
	eventually(t, "all streams given back", func() bool {
		r.slots.mu.Lock()
		defer r.slots.mu.Unlock()
		return r.slots.flowing == 0 && r.slots.taken == 0
	})
	before := runtime.NumGoroutine()
	good(t, r, small("after all"))
	eventually(t, "its goroutines to end", func() bool { return runtime.NumGoroutine() <= before+1 })
}

// TestSlowIsServed: a test of --bandwidth 1K is slow, and goes on.
func TestSlowIsServed(t *testing.T) {
	r := serve(t, hasty())
	p := newPeer(t, r)
	p.ask(iperf3.Parameters{TCP: true, Parallel: 1, Time: 60, Block: 25, Rate: 1000, Title: "slow"})
	c := p.open(1)[0]
	p.want(iperf3.TestStart, iperf3.TestRunning)
	for range 20 {
		if _, err := c.Write(make([]byte, 25)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	p.finish(500)
	if test := r.done(t, "slow"); test.Err != nil || test.Received != 500 {
		t.Errorf("%d bytes, %v", test.Received, test.Err)
	}
}

// TestRefuses: who is not served is told so in iperf3's word.
func TestRefuses(t *testing.T) {
	refused := func(t *testing.T, r *running, reason error) {
		t.Helper()
		p := newPeer(t, r)
		p.write(p.cookie[:])
		p.want(iperf3.AccessDenied)
		p.gone()
		eventually(t, "a refusal", func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.refused) > 0 && r.refused[len(r.refused)-1].Reason == reason
		})
	}
	t.Run("strangers", func(t *testing.T) {
		refused(t, serve(t, Config{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}), ErrNotAllowed)
	})
	t.Run("one too many", func(t *testing.T) {
		r := serve(t, Config{MaxClients: 1})
		p := newPeer(t, r)
		p.ask(iperf3.Parameters{TCP: true, Parallel: 1, Time: 60})
		p.want(iperf3.CreateStreams)
		refused(t, r, ErrFull)
		_ = p.c.Close()
		eventually(t, "the place to be free", func() bool { r.slots.mu.Lock(); defer r.slots.mu.Unlock(); return r.slots.taken == 0 })
		good(t, r, small("next"))
	})
	t.Run("without the token", func(t *testing.T) {
		r := serve(t, Config{Token: []byte("open sesame")})
		p := newPeer(t, r)
		p.ask(small("no token"))
		p.fault(iperf3.ReasonAuth)

		known := newPeer(t, r)
		params := small("token")
		params.Proof = iperf3.Prove([]byte("open sesame"), known.cookie, time.Now())
		known.ask(params)
		c := known.open(1)[0]
		if _, err := c.Write(make([]byte, params.Bytes)); err != nil {
			t.Fatal(err)
		}
		known.want(iperf3.TestStart, iperf3.TestRunning)
		known.finish(int(params.Bytes))
		r.done(t, "token")

		// Who listened to it has the proof, and the cookie.
		again := newPeer(t, r)
		again.cookie = known.cookie
		again.ask(params)
		again.fault(iperf3.ReasonAuth)

		// And after a restart it is too old in a while.
		old := newPeer(t, serve(t, Config{Token: []byte("open sesame")}))
		old.cookie = known.cookie
		params.Proof = iperf3.Prove([]byte("open sesame"), old.cookie, time.Now().Add(-iperf3.ProofAge-time.Minute))
		old.ask(params)
		old.fault(iperf3.ReasonAuth)
	})
	t.Run("when it ends", func(t *testing.T) {
		r := serve(t, Config{})
		p := newPeer(t, r)
		p.ask(iperf3.Parameters{TCP: true, Parallel: 1, Time: 60, Title: "cut"})
		p.open(1)
		p.want(iperf3.TestStart, iperf3.TestRunning)
		r.stop()
		p.want(iperf3.ServerTerminate)
		p.gone()
		if test := r.done(t, "cut"); test.Err == nil {
			t.Error("the test is said to have ended well")
		}
	})
	t.Run("after one", func(t *testing.T) {
		r := serve(t, Config{OneOff: true})
		good(t, r, small("only"))
		select {
		case <-r.ended:
		case <-time.After(30 * time.Second):
			t.Error("it goes on")
		}
	})
}

// TestEndsInTime: clients that say nothing, or stop in the middle, do not keep
// a listener that is interrupted.
func TestEndsInTime(t *testing.T) {
	r := serve(t, Config{}) // with the long waits of the real one
	silent, mute := newPeer(t, r), newPeer(t, r)
	silent.write([]byte("half"))
	mute.write(mute.cookie[:])
	mute.want(iperf3.ParamExchange)
	r.stop()
	select {
	case <-r.ended:
	case <-time.After(farewellTime + 2*time.Second):
		t.Error("it waits for clients that say nothing")
	}
}
