package procfs

import (
	"runtime"
	"testing"
)

func TestKernelFiles(t *testing.T) {
	cpus, err := Stat()
	if err != nil || len(cpus) == 0 || cpus[0].Total <= 0 {
		t.Errorf("Stat = %+v, %v", cpus, err)
	}
	rows, err := ReadSoftnet()
	if err != nil || len(rows) != len(cpus) {
		t.Errorf("ReadSoftnet: %d rows for %d processors, %v", len(rows), len(cpus), err)
	}
	for _, r := range rows {
		if r.CPU < 0 || r.CPU > 1<<16 {
			t.Errorf("row of processor %d", r.CPU)
		}
	}
	groups, err := Netstat()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PruneCalled", "TCPTimeouts", "TCPBacklogDrop", "TCPRcvCollapsed"} {
		if _, ok := groups["TcpExt"][name]; !ok {
			t.Errorf("TcpExt has no %s", name)
		}
	}
	snmp, err := SNMP()
	if _, ok := snmp["Tcp"]["RetransSegs"]; err != nil || !ok {
		t.Errorf("SNMP: no Tcp RetransSegs, %v", err)
	}
	info, err := ReadCPUInfo()
	if err != nil || info.Threads != len(cpus) || info.Cores > info.Threads {
		t.Errorf("ReadCPUInfo = %+v, %v; %d processors, runtime says %d", info, err, len(cpus), runtime.NumCPU())
	}
}
