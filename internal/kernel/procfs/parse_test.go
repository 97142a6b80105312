package procfs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []CPUTime
		fails      bool
	}{
		{name: "two processors with a gap", text: "cpu  8854 0 5355 318496 514 0 91 20 0 0\n" +
			"cpu0 3700 100 2200 160500 500 10 90 5 50 0\ncpu2 100 0 0 100 0 0 0 0 0 0\nintr 12 0 1\nctxt 5\n",
			want: []CPUTime{
				{CPU: 0, Busy: 61.05, Softirq: 0.9, Steal: 0.05, Total: 1671.05},
				{CPU: 2, Busy: 1, Total: 2},
			}},
		{name: "four fields of an old kernel", text: "cpu0 100 100 100 100\n", want: []CPUTime{{Busy: 3, Total: 4}}},
		{name: "empty", fails: true},
		{name: "no processors", text: "cpu  1 2 3 4\n", fails: true},
		{name: "cut short", text: "cpu0 1 2\n", fails: true},
		{name: "rubbish", text: "cpu0 1 2 x 4\n", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseStat([]byte(tc.text))
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %v", err, tc.fails)
			}
			near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
			if diff := cmp.Diff(tc.want, got, near); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseSoftnet(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []Softnet
		fails      bool
	}{
		{name: "15 columns", text: "0000000c 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000004 00000005 00000007 00000000 00000000\n",
			want: []Softnet{{CPU: 7, Processed: 12, Dropped: 1, TimeSqueeze: 2, ReceivedRPS: 3, FlowLimit: 4, Backlog: 5}}},
		{name: "9 columns", text: "00001b30 0000000a 0000000b 0 0 0 0 0 0\n000000ff 0 0 0 0 0 0 0 0\n",
			want: []Softnet{{Processed: 0x1b30, Dropped: 10, TimeSqueeze: 11}, {CPU: 1, Processed: 255}}},
		{name: "empty", fails: true},
		{name: "two columns", text: "1 2\n", fails: true},
		{name: "no hex", text: "1 2 zz\n", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseSoftnet([]byte(tc.text))
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %v", err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseNetstat(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       map[string]map[string]int64
		fails      bool
	}{
		{name: "two groups", text: "TcpExt: PruneCalled TCPTimeouts\nTcpExt: 3 4\nIpExt: InNoRoutes\nIpExt: 5\n",
			want: map[string]map[string]int64{"TcpExt": {"PruneCalled": 3, "TCPTimeouts": 4}, "IpExt": {"InNoRoutes": 5}}},
		{name: "negative and huge", text: "Tcp: MaxConn Big\nTcp: -1 18446744073709551615\n",
			want: map[string]map[string]int64{"Tcp": {"MaxConn": -1, "Big": -1}}},
		{name: "empty", want: map[string]map[string]int64{}},
		{name: "values missing", text: "TcpExt: A B\n", fails: true},
		{name: "uneven", text: "TcpExt: A B\nTcpExt: 1\n", fails: true},
		{name: "other group", text: "TcpExt: A\nIpExt: 1\n", fails: true},
		{name: "no group", text: "hello\n", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseNetstat([]byte(tc.text))
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %v", err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); !tc.fails && diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseCPUInfo(t *testing.T) {
	const smt = "processor\t: 0\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 0\n\n" +
		"processor\t: 1\nmodel name\t: AMD EPYC\nphysical id\t: 0\ncore id\t\t: 0\n\n" +
		"processor\t: 2\nmodel name\t: AMD EPYC\nphysical id\t: 1\ncore id\t\t: 0\n"
	for _, tc := range []struct {
		name, text string
		want       CPUInfo
		fails      bool
	}{
		{name: "x86 with threads", text: smt, want: CPUInfo{Model: "AMD EPYC", Threads: 3, Cores: 2}},
		{name: "arm64", text: "processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n", want: CPUInfo{Threads: 2, Cores: 2}},
		{name: "ppc64", text: "processor\t: 0\ncpu\t\t: POWER9\n\nmachine\t: IBM,9009\n", want: CPUInfo{Model: "POWER9", Threads: 1, Cores: 1}},
		{name: "s390x", text: "vendor_id       : IBM/S390\nprocessor 0: version = FF, machine = 3931\n", want: CPUInfo{Threads: 1, Cores: 1}},
		{name: "empty", fails: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseCPUInfo([]byte(tc.text))
			if (err != nil) != tc.fails {
				t.Fatalf("error %v, want one: %v", err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("cpu0 1 2 3 4 5 6 7 8\n"))
	f.Add([]byte("0000000c 00000001 00000002 0 0 0 0 0 0 3 4 5 7\n"))
	f.Add([]byte("TcpExt: A B\nTcpExt: 1 -2\n"))
	f.Add([]byte("processor : 0\nmodel name : x\ncore id : 0\n"))
	f.Add([]byte("0.1 0.2 0.3 1/2 3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if all, err := ParseStat(text); err == nil {
			for _, c := range all {
				if c.Busy > c.Total || c.Softirq > c.Busy {
					t.Errorf("cpu%d is busy %v of %v, softirq %v", c.CPU, c.Busy, c.Total, c.Softirq)
				}
			}
		}
		if all, err := ParseSoftnet(text); err == nil && len(all) == 0 {
			t.Error("no rows and no error")
		}
		_, _ = ParseNetstat(text)
		if c, err := ParseCPUInfo(text); err == nil && (c.Threads < 1 || c.Cores < 1) {
			t.Errorf("no processor and no error: %+v", c)
		}
	})
}
