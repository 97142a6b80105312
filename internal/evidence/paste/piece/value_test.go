package piece

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRateWords(t *testing.T) {
	for text, want := range map[string][]RateWord{
		"9.41 Gbits/sec, then 1,5 GB/s": {{Bits: 9.41e9}, {Bits: 12e9, From: 21, Bytes: true}},
		"16 GB of RAM at 933Mb":         {{Bits: 128e9, Bytes: true, Bare: true}, {Bits: 933e6, From: 16, Bare: true}},
		"500MiB/s, 40 kbps":             {{Bits: 4e9, Bytes: true}, {Bits: 40e3, From: 10}},
		"100 MBit/s, 50 Mbytes/s":       {{Bits: 1e8}, {Bits: 4e8, From: 12, Bytes: true}},
		"10G, 5 GBIC modules":           nil,
	} {
		if d := cmp.Diff(want, RateWords(text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}
