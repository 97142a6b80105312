package agentapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a controller of an earlier build asks for all sockets holds where a socket
// asks for nothing of its own.
func TestEarlierSocket(t *testing.T) {
	for _, c := range []struct {
		name       string
		own        record.Socket
		buffer     unit.Bytes
		congestion string
		want       record.Socket
	}{
		{"nothing", record.Socket{}, 0, "", record.Socket{}},
		{"for all", record.Socket{MSS: 1000}, 8, "cubic", record.Socket{MSS: 1000, SndBuf: 8, RcvBuf: 8, Congestion: "cubic"}},
		{"its own over all", record.Socket{SndBuf: 3, RcvBuf: 4, Congestion: "bbr"}, 8, "cubic", record.Socket{SndBuf: 3, RcvBuf: 4, Congestion: "bbr"}},
	} {
		if diff := cmp.Diff(c.want, EarlierSocket{c.buffer, c.congestion}.Under(c.own)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}
