package observe

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/diagnose/host"
)

// A tunable that is judged and never read would never be found wrong.
func TestJudgedSysctlsAreRead(t *testing.T) {
	read := sysctlKeys(nil)
	for _, row := range host.SysctlRows() {
		if !slices.Contains(read, row.Key) {
			t.Errorf("%s is judged and not read", row.Key)
		}
	}
}
