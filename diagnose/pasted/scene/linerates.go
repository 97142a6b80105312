package scene

import "github.com/linerate/linerate/unit"

// lineRates are what links are sold by.
var lineRates = []unit.BitRate{10 * unit.Mbps, 100 * unit.Mbps, unit.Gbps, 2500 * unit.Mbps, 5 * unit.Gbps, 10 * unit.Gbps, 25 * unit.Gbps, 40 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps, 200 * unit.Gbps, 400 * unit.Gbps}

// NearLineRate reports a rate that one link of some kind, or two fast ones, carry when
// they are full.
func NearLineRate(rate unit.BitRate) bool {
	for _, line := range lineRates {
		if Close(rate, line, 0.86, 1) || line >= unit.Gbps && Close(rate, 2*line, 0.86, 1) {
			return true
		}
	}
	return false
}

// LineOf is the rate of a link of which a rate is that part; zero none.
func LineOf(rate unit.BitRate, least, most float64) unit.BitRate {
	for _, line := range lineRates {
		if Close(rate, line, least, most) {
			return line
		}
	}
	return 0
}
