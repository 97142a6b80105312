package engine

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/unit"
)

// arrive has datagrams with these numbers come, 100 bytes each.
func arrive(a *arrivals, numbers ...uint64) {
	b := make([]byte, 100)
	for _, seq := range numbers {
		putData(b, a.tag, a.stream, seq*1000, seq)
		a.take(b, seq*1000+5000)
	}
}

func TestArrivals(t *testing.T) {
	far := func(n uint64) uint64 { return lateWindow + n }
	for _, c := range []struct {
		name    string
		numbers []uint64
		want    agentapi.UDPCount
		bytes   uint64
	}{
		{"in order", []uint64{0, 1, 2}, agentapi.UDPCount{Datagrams: 3, Highest: 3}, 300},
		{"one lost", []uint64{0, 2}, agentapi.UDPCount{Datagrams: 2, Highest: 3}, 200},
		{"the first lost", []uint64{1}, agentapi.UDPCount{Datagrams: 1, Highest: 2}, 100},
		{"one late", []uint64{0, 2, 1, 3}, agentapi.UDPCount{Datagrams: 4, Highest: 4, Reordered: 1}, 400},
		{"one twice", []uint64{0, 1, 1}, agentapi.UDPCount{Datagrams: 3, Highest: 2, Twice: 1}, 200},
		{"a late one twice", []uint64{0, 2, 1, 1}, agentapi.UDPCount{Datagrams: 4, Highest: 3, Reordered: 1, Twice: 1}, 300},
		{"too late to know", []uint64{0, 1, far(5), 1}, agentapi.UDPCount{Datagrams: 4, Highest: lateWindow + 6, Reordered: 1}, 400},
		{"the oldest that is known", []uint64{far(5), 6}, agentapi.UDPCount{Datagrams: 2, Highest: lateWindow + 6, Reordered: 1}, 200},
		{"a gap of many windows", []uint64{0, 9 * lateWindow, 9*lateWindow - 1}, agentapi.UDPCount{Datagrams: 3, Highest: 9*lateWindow + 1, Reordered: 1}, 300},
	} {
		a := &arrivals{tag: 77, stream: 3}
		arrive(a, c.numbers...)
		if a.count != c.want || a.bytes != c.bytes {
			t.Errorf("%s: %+v and %d bytes, want %+v and %d", c.name, a.count, a.bytes, c.want, c.bytes)
		}
	}
}

// TestArrivalsByHand: whatever comes in whatever order, the counts are those
// of a set of all numbers ever seen.
func TestArrivalsByHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, seen := &arrivals{tag: 1}, make(map[uint64]bool)
		var want agentapi.UDPCount
		var at uint64
		for range rapid.IntRange(1, 300).Draw(t, "datagrams") {
			at += uint64(rapid.IntRange(0, 40).Draw(t, "step"))
			seq := at - min(at, uint64(rapid.IntRange(0, 60).Draw(t, "late")))
			want.Datagrams++
			switch {
			case seen[seq]:
				want.Twice++
			case seq < want.Highest:
				want.Reordered++
			}
			seen[seq] = true
			want.Highest = max(want.Highest, seq+1)
			arrive(a, seq)
		}
		if a.count != want || a.bytes != 100*uint64(len(seen)) {
			t.Fatalf("%+v and %d bytes, want %+v and %d", a.count, a.bytes, want, 100*len(seen))
		}
	})
}

// TestJitter is RFC 3550's recurrence on transits that alternate by 8 µs.
func TestJitter(t *testing.T) {
	a, b := &arrivals{}, make([]byte, dataHeader)
	want := 0.0
	for i := range uint64(200) {
		sent := i * 1_000_000
		putData(b, 0, 0, sent, i)
		a.take(b, sent+8000*(i%2))
		if i > 0 {
			want += (8000 - want) / 16
		}
	}
	if math.Abs(float64(a.count.Jitter)-want) > 1 {
		t.Errorf("jitter %v, want %v", a.count.Jitter, time.Duration(want))
	}
	// The clock's modulus is no jump, and datagrams of one call are timed once.
	a = &arrivals{}
	for i := range uint64(100) {
		sent := uint64(timeMask) - 50*1000 + i/4*4000
		putData(b, 0, 0, sent, i)
		a.take(b, sent&timeMask+123+100*(i%4))
	}
	if a.count.Jitter != 0 {
		t.Errorf("jitter %v of a constant transit", a.count.Jitter)
	}
}

func TestArrivalsOfOthers(t *testing.T) {
	a, b := &arrivals{tag: 9, stream: 1}, make([]byte, 50)
	for name, packet := range map[string]func(){
		"another session": func() { putData(b, 8, 1, 0, 0) },
		"another stream":  func() { putData(b, 9, 2, 0, 0) },
	} {
		packet()
		if a.take(b, 0) || a.take(b[:dataHeader-1], 0) || a.take(nil, 0) {
			t.Errorf("%s was counted", name)
		}
	}
}

func FuzzReadPackets(f *testing.F) {
	f.Add(putOpening(testKey, opening{stream: 5, payload: 1472}), uint64(3))
	f.Add(putAnswer(testKey, 5), uint64(3))
	data := make([]byte, 40)
	putData(data, dataTag(testKey), 2, 99, 3)
	f.Add(data, uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, at uint64) {
		if o, ok := readOpeningPacket(b, testKey); ok && (string(putOpening(testKey, o)) != string(b) || o.payload < dataHeader) {
			t.Errorf("opening %+v of %x", o, b)
		}
		if isAnswer(b, testKey, 5) && len(b) >= openingPacket {
			t.Error("an answer is longer than what it answers")
		}
		a := &arrivals{tag: dataTag(testKey), stream: 2}
		a.take(b, at)
		if a.bytes > uint64(len(b)) || a.count.Datagrams > 1 {
			t.Errorf("%d bytes, %+v of %d", a.bytes, a.count, len(b))
		}
	})
}

func TestPacer(t *testing.T) {
	p := newPacer(8*unit.Mbps, 1000) // one each millisecond
	for _, c := range []struct {
		at   time.Duration
		most int
		n    int
		wait time.Duration
	}{
		{0, 10, 1, 0},
		{0, 10, 0, time.Millisecond},
		{500 * time.Microsecond, 10, 0, 500 * time.Microsecond},
		{990 * time.Microsecond, 10, 0, paceQuantum},
		{5 * time.Millisecond, 10, 5, 0},
		{8 * time.Millisecond, 2, 2, 0},
		{8 * time.Millisecond, 2, 1, 0},
		{time.Second, 1000, 101, 0}, // what was lost beyond 100 ms is not made up for
		{time.Second, 1000, 0, time.Millisecond},
		{time.Second + time.Millisecond, 1000, 1, 0},
	} {
		if n, wait := p.due(c.at, c.most); n != c.n || wait != c.wait {
			t.Errorf("at %v: %d, wait %v; want %d, %v", c.at, n, wait, c.n, c.wait)
		}
	}
	free := newPacer(0, 1000)
	if n, wait := free.due(time.Second, 64); n != 64 || wait != 0 {
		t.Errorf("without a rate: %d, %v", n, wait)
	}
	slow := newPacer(1, 1000) // one in 8000 s
	if n, _ := slow.due(0, 9); n != 1 {
		t.Errorf("the first of a slow stream: %d", n)
	}
	if n, wait := slow.due(time.Hour, 9); n != 0 || wait != 4400*time.Second {
		t.Errorf("the second of a slow stream: %d, wait %v", n, wait)
	}
}

func TestVolley(t *testing.T) {
	v := newVolley(100, 4, 3)
	v.address(7, 5)
	v.stamp(10, 42, 1000)
	var seqs []uint64
	for k := range v.messages(10) {
		for m := v.message(k, 10, 60); len(m) > 0; m = m[min(100, len(m)):] {
			stream, at, seq, ok := readData(m, 7)
			if !ok || stream != 5 || at != 42 {
				t.Fatalf("datagram %d: stream %d at %d, %v", len(seqs), stream, at, ok)
			}
			seqs = append(seqs, seq)
		}
	}
	if len(seqs) != 10 || seqs[0] != 1000 || seqs[9] != 1009 || len(v.message(2, 10, 60)) != 160 {
		t.Errorf("datagrams %v, the last message of %d bytes", seqs, len(v.message(2, 10, 60)))
	}
	for _, c := range []struct {
		n       int
		left    uint64
		want    int
		lasting int
	}{{12, 1200, 12, 100}, {12, 1199, 12, 99}, {12, 1101, 12, dataHeader}, {12, 150, 2, 50}, {1, 10, 1, dataHeader}} {
		if n, last := v.within(c.n, c.left); n != c.want || last != c.lasting {
			t.Errorf("%d within %d bytes: %d, the last of %d; want %d, %d", c.n, c.left, n, last, c.want, c.lasting)
		}
	}
}
