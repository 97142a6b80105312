package netstate

import "testing"

func TestMPTCPFlagsRoundTrip(t *testing.T) {
	for f := range MPTCPFlags(1) << 8 { // two bits more than have words
		text, err := f.MarshalText()
		var back MPTCPFlags
		if err != nil || back.UnmarshalText(text) != nil || back != f {
			t.Errorf("%#x became %q became %#x", uint32(f), text, uint32(back))
		}
	}
	if got := (MPTCPSubflow | MPTCPFullmesh | 1<<31).String(); got != "subflow fullmesh 0x80000000" {
		t.Errorf("words are %q", got)
	}
	for _, bad := range []string{"subflows", "0x", "0x1g", "SIGNAL"} {
		var f MPTCPFlags
		if err := f.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, f)
		}
	}
}
