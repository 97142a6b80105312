package netstate

import (
	"reflect"
	"testing"
)

func TestGrown(t *testing.T) {
	for _, c := range []struct{ from, to, wide, narrow uint64 }{
		{0, 0, 0, 0}, {5, 9, 4, 4}, {0, 1 << 40, 1 << 40, 1 << 40},
		{1<<32 - 10, 490, 0, 500},          // 32 bits that wrapped
		{5<<32 - 10, 4<<32 + 490, 0, 500},  // a sum of five, one of which did
		{500, 0, 0, 0}, {1 << 30, 7, 0, 0}, // set back
		{1<<64 - 1, 3, 0, 4},
	} {
		if got := Grown(c.from, c.to); got != c.wide {
			t.Errorf("64 bits, %d to %d: %d, want %d", c.from, c.to, got, c.wide)
		}
		if got := Grown32(c.from, c.to); got != c.narrow {
			t.Errorf("32 bits, %d to %d: %d, want %d", c.from, c.to, got, c.narrow)
		}
	}
}

// Every counter of a link is in the difference, by its own width; the backlog is
// what it is.
func TestSubHasEveryCounter(t *testing.T) {
	fill := func(v reflect.Value, n uint64) {
		for i := range v.NumField() {
			if f := v.Field(i); f.CanUint() {
				f.SetUint(n)
			} else if f.CanInt() {
				f.SetInt(int64(n))
			}
		}
	}
	var from, to LinkCounters
	for c, n := range map[*LinkCounters]uint64{&from: 1<<32 - 10, &to: 490} {
		fill(reflect.ValueOf(c).Elem(), n)
		fill(reflect.ValueOf(&c.Counters).Elem(), n)
	}
	back, on := to.Sub(from), from.Sub(to)
	narrow := map[string]bool{"QdiscDrops": true, "QdiscOverlimits": true, "QdiscRequeues": true}
	check := func(back, on reflect.Value) {
		for i := range back.NumField() {
			name := back.Type().Field(i).Name
			if !back.Field(i).CanUint() {
				continue
			}
			want := uint64(0)
			if narrow[name] {
				want = 500
			}
			if got := back.Field(i).Uint(); got != want {
				t.Errorf("%s beyond 2^32: %d, want %d", name, got, want)
			}
			if got := on.Field(i).Uint(); got != 1<<32-500 {
				t.Errorf("%s: %d, want %d", name, got, uint64(1<<32-500))
			}
		}
	}
	check(reflect.ValueOf(back), reflect.ValueOf(on))
	check(reflect.ValueOf(back.Counters), reflect.ValueOf(on.Counters))
	if back.QdiscBacklog != to.QdiscBacklog {
		t.Errorf("backlog %d, want %d", back.QdiscBacklog, to.QdiscBacklog)
	}
}
