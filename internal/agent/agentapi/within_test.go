package agentapi

import (
	"testing"
	"time"
)

// A request that waits by nature has its time, and three minutes.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		request any
		want    time.Duration
	}{
		{ObserveRequest{}, 3 * time.Minute}, {RollbackRequest{Journal: "x"}, 3 * time.Minute}, {RollbackRequest{Group: "x"}, 15 * time.Minute},
		{PingRequest{Count: 6000, Interval: 100 * time.Millisecond, Timeout: time.Second}, 13*time.Minute + time.Second},
		{TrafficRequest{Span: time.Minute}, 4 * time.Minute}, {SessionRequest{Wait: time.Hour}, 63 * time.Minute}, {ApplyRequest{}, 5 * time.Minute},
		{ApplyRequest{Deadline: time.Hour, Pause: time.Minute}, 64 * time.Minute}, {IPerf3OpenRequest{BusyFor: time.Minute}, 4 * time.Minute},
	} {
		if got := Within(c.request); got != c.want {
			t.Errorf("%#v: %v, want %v", c.request, got, c.want)
		}
	}
}
