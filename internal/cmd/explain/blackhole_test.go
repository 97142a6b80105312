package explain

import (
	"fmt"
	"strings"
	"testing"

	diagnosetrial "github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// iperf3 is a result of iperf3 -J with the bytes and retransmits of each second.
func iperf3(mss int, bytes ...int) string {
	var rows []string
	sum, again := 0, 0
	for i, n := range bytes {
		more := 0
		if n < 1<<20 {
			more = 1
		}
		rows = append(rows, fmt.Sprintf(`{"streams":[{"socket":5,"start":%d,"end":%d,"seconds":1,"bytes":%d,"bits_per_second":%d,"retransmits":%d,"snd_cwnd":%d,"rtt":80,"omitted":false,"sender":true}],"sum":{"start":%d,"end":%d,"seconds":1,"bytes":%d,"bits_per_second":%d,"omitted":false,"sender":true}}`,
			i, i+1, n, 8*n, more, mss, i, i+1, n, 8*n))
		sum, again = sum+n, again+more
	}
	s := len(bytes)
	return fmt.Sprintf(`{"start":{"connected":[{"socket":5,"local_host":"198.51.100.1","local_port":53016,"remote_host":"198.51.100.2","remote_port":5201}],"version":"iperf 3.12","system_info":"Linux h1 6.1.0","timestamp":{"time":"Thu, 26 Nov 2026 12:01:51 GMT","timesecs":1795694511},"connecting_to":{"host":"198.51.100.2","port":5201},"tcp_mss_default":%d,"test_start":{"protocol":"TCP","num_streams":1,"blksize":131072,"omit":0,"duration":%d,"reverse":0}},"intervals":[%s],
"end":{"streams":[{"sender":{"socket":5,"start":0,"end":%d,"seconds":%d,"bytes":%d,"bits_per_second":%d,"retransmits":%d,"max_snd_cwnd":%d,"max_rtt":80,"min_rtt":80,"mean_rtt":80,"sender":true},"receiver":{"socket":5,"start":0,"end":%d,"seconds":%d,"bytes":%d,"bits_per_second":%d,"sender":true}}],
"sum_sent":{"start":0,"end":%d,"seconds":%d,"bytes":%d,"bits_per_second":%d,"retransmits":%d,"sender":true},"sum_received":{"start":0,"end":%d,"seconds":%d,"bytes":%d,"bits_per_second":%d,"sender":true}}}`,
		mss, s, strings.Join(rows, ","), s, s, sum, 8*sum/s, again, mss, s, s, sum/2, 4*sum/s, s, s, sum, 8*sum/s, again, s, s, sum/2, 4*sum/s)
}

// TestBlackHole: iperf3's own result, without anything about links, of large segments
// of which none arrives; and what only seems so.
func TestBlackHole(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mtu        bool
	}{
		{"jumbo frames that vanish", iperf3(8948, 90000, 0, 0, 0, 0), true},
		{"the same at Ethernet's own size", iperf3(1448, 90000, 0, 0, 0, 0), false},
		{"jumbo frames, a link that fails in the test", iperf3(8948, 1200<<20, 0, 0, 0, 0), false},
		{"jumbo frames, slow and steady", iperf3(8948, 900000, 850000, 900000, 880000, 870000), false},
	} {
		r, err := resultfile.Read([]byte(c.text))
		if err != nil || len(r.Trials) != 1 {
			t.Fatalf("%s: %v, %d trials", c.name, err, len(r.Trials))
		}
		f := diagnosetrial.Judge(predict.Fabric{}, r.Trials[0])
		if got := f.Cause == record.MTU; got != c.mtu || got && f.Confidence < 0.5 {
			t.Errorf("%s: %s %.2f: %s", c.name, f.Cause, f.Confidence, f.Summary)
		}
	}
}
