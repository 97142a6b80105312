package console

import (
	"cmp"
	"log/slog"
	"net/netip"
)

// LogLevel is how much a daemon says.
func (con *Console) LogLevel() slog.Level {
	switch {
	case con.Verbose:
		return slog.LevelDebug
	case con.Quiet:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// envMetrics is --metrics where that is not given: for a unit's environment file.
const envMetrics = "LINERATE_METRICS"

// MetricsAddress is where metrics are told, by a flag or the environment; "" is
// nowhere.
func (con *Console) MetricsAddress(flag string) (string, error) {
	address := cmp.Or(flag, con.Getenv(envMetrics))
	if address == "" {
		return "", nil
	}
	if _, err := netip.ParseAddrPort(address); err != nil {
		return "", BadUsage("--metrics: want ADDRESS:PORT, not "+address, "127.0.0.1:9117 is loopback; whoever reaches it may read it")
	}
	return address, nil
}
