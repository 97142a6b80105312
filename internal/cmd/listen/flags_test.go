package listen

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// Attack 14: a network of mapped addresses can match, or is refused.
func TestAllowMappedNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"::ffff:10.0.0.0/104": "10.0.0.0/8", "::ffff:127.0.0.9": "127.0.0.9/32", "::ffff:10.1.2.3/128": "10.1.2.3/32", "::ffff:0:0/96": "0.0.0.0/0",
		"::ffff:10.1.2.3/120": "10.1.2.0/24", "10.1.2.3/24": "10.1.2.0/24", "2001:db8::1/64": "2001:db8::/64", "::/0": "::/0",
		"::ffff:0:0/95": "", "::ffff:10.0.0.0/8": "", "10.0.0.0/33": "", "x": "",
	} {
		cfg, err := (&opts{port: 1, maxClients: 1, idle: 1e9, allow: []string{text}}).config(t.Context())
		if want == "" {
			if console.Status(err) != console.ExitUsage || console.HintFor(err) == "" {
				t.Errorf("%s: %v, %v; want it refused with a hint", text, cfg.Allow, err)
			}
			continue
		}
		if err != nil || cfg.Allow[0] != netip.MustParsePrefix(want) {
			t.Errorf("%s: %v, %v; want %s", text, cfg.Allow, err, want)
		}
	}
}
