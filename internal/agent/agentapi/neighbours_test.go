package agentapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLLDPRequestIsBounded(t *testing.T) {
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("eth%d", i))
		}
		return all
	}
	for _, tt := range []struct {
		name string
		ask  LLDPRequest
		want LLDPRequest
		bad  bool
	}{
		{"as it is", LLDPRequest{names(2), time.Second}, LLDPRequest{names(2), time.Second}, false},
		{"one link often", LLDPRequest{[]string{"eth1", "eth0", "eth1", "eth1"}, 0}, LLDPRequest{[]string{"eth1", "eth0"}, 0}, false},
		{"the most", LLDPRequest{append(names(MostLLDPLinks), names(MostLLDPLinks)...), 0}, LLDPRequest{names(MostLLDPLinks), 0}, false},
		{"one more", LLDPRequest{names(MostLLDPLinks + 1), 0}, LLDPRequest{}, true},
		{"a day", LLDPRequest{names(1), 24 * time.Hour}, LLDPRequest{names(1), LongestLLDP}, false},
		{"before now", LLDPRequest{names(1), -time.Second}, LLDPRequest{names(1), 0}, false},
	} {
		got, err := tt.ask.Check()
		if tt.bad != (err != nil) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if d := cmp.Diff(tt.want, got); !tt.bad && d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
