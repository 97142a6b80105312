package process

import (
	"testing"
	"time"
)

func TestSocketInode(t *testing.T) {
	for _, tt := range []struct {
		link string
		want uint32
		ok   bool
	}{
		{"socket:[4711]", 4711, true},
		{"socket:[4294967295]", 1<<32 - 1, true},
		{"socket:[4294967296]", 0, false},
		{"pipe:[4711]", 0, false},
		{"socket:[]", 0, false},
		{"socket:[47", 0, false},
		{"/dev/null", 0, false},
	} {
		if got, ok := socketInode([]byte(tt.link)); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %d, %v", tt.link, got, ok)
		}
	}
}

func TestParseTimes(t *testing.T) {
	ran, waited, err := parseSchedstat([]byte("1500000000 20000000 31\n"))
	if err != nil || ran != 1500*time.Millisecond || waited != 20*time.Millisecond {
		t.Errorf("schedstat: %v, %v, %v", ran, waited, err)
	}
	// A name with brackets and blanks in it; user time 70, system time 5 ticks.
	ran, err = parseStat([]byte("42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 70 5 0 0 20 0 1 0 100 0 0"))
	if err != nil || ran != 750*time.Millisecond {
		t.Errorf("stat: %v, %v", ran, err)
	}
	for _, bad := range []string{"", "1", "a b c", "1 x"} {
		if _, _, err := parseSchedstat([]byte(bad)); err == nil {
			t.Errorf("schedstat %q is taken", bad)
		}
	}
	for _, bad := range []string{"", "42 (a", "42 (a) S 1 2 3", "42 (a) S 1 2 3 4 5 6 7 8 9 10 x y z"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("stat %q is taken", bad)
		}
	}
}
