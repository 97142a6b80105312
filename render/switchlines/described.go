package switchlines

import "regexp"

// descriptions tell a system by what it says of itself by LLDP; the first that fits.
var descriptions = []struct {
	name string
	says *regexp.Regexp
}{
	{"nxos", regexp.MustCompile(`Nexus Operating System|NX-OS`)},
	{"ios", regexp.MustCompile(`Cisco (?:IOS|Internetwork Operating System)`)},
	{"eos", regexp.MustCompile(`Arista Networks EOS`)},
	{"junos", regexp.MustCompile(`(?i)Juniper Networks.*\b(?:EX|QFX)|(?:EX|QFX)[0-9].*JUNOS`)},
	{"cumulus", regexp.MustCompile(`Cumulus Linux(?: version)? 5\.`)},
	{"sonic", regexp.MustCompile(`SONiC`)},
	{"routeros", regexp.MustCompile(`MikroTik RouterOS`)},
	{"aoscx", regexp.MustCompile(`AOS-CX|ArubaOS-CX|\b[A-Z]{2}\.10\.\d\d\.\d{4}`)},
	{"procurve", regexp.MustCompile(`ProCurve|[Rr]evision [A-Z]{1,2}\.1[0-9]\.`)},
}

// Described returns the system of a switch by its LLDP system description; false where
// that does not tell.
func Described(text string) (System, bool) {
	for _, d := range descriptions {
		if d.says.MatchString(text) {
			return SystemOf(d.name)
		}
	}
	return System{}, false
}
