package link

import (
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// Whoever sends without end has mostBurst worked off, and then one each
// everyMessage; somebody else's message does not wait.
func TestLanesPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var eves, bobs atomic.Int64
		l := NewLanes(func(m *nats.Msg) {
			if m.Subject == "eve" {
				eves.Add(1)
			} else {
				bobs.Add(1)
			}
		})
		refused := 0
		for range 2000 { // two seconds, two in each millisecond
			for range 2 {
				if l.Put("eve", nats.NewMsg("eve")) != nil {
					refused++
				}
			}
			time.Sleep(time.Millisecond)
		}
		if got, want := eves.Load(), int64(mostBurst+2*time.Second/everyMessage); got < want-2 || got > want+2 {
			t.Errorf("%d of eve's messages were worked off in two seconds, want %d", got, want)
		}
		if refused < 2000 {
			t.Errorf("%d were refused", refused)
		}
		if l.Put("bob", nats.NewMsg("bob")) != nil {
			t.Error("bob's was refused")
		}
		synctest.Wait()
		if bobs.Load() != 1 {
			t.Error("bob's message waits for eve's")
		}
		time.Sleep(time.Minute)
	})
}

// A sender who rests leaves a place for others, and the bytes of what waited are
// free again.
func TestLanesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLanes(func(*nats.Msg) {})
		for i := range 3 * mostLanes {
			if l.Put(strconv.Itoa(i), nats.NewMsg("x")) != nil {
				t.Fatalf("sender %d was refused", i)
			}
			time.Sleep(everyMessage)
		}
		synctest.Wait()
		if l.held != 0 || len(l.of) > mostLanes {
			t.Errorf("%d bytes of %d senders are kept", l.held, len(l.of))
		}
	})
}
