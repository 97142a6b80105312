package loadtext

import (
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// CloudWords reads what providers' tools and metadata say of an instance, and the
// instance type that somebody names in a sentence: that one is a fact of "said".
var CloudWords = piece.Reader{
	Kind:     "instance of a cloud",
	Commands: []string{"aws", "az", "gcloud", "ibmcloud", "curl", "wget", "ec2-metadata"},
	Starts: func(line string) bool {
		_, _, named := instanceIn(line)
		return named || strings.Contains(line, "(Mbps)") && ibmColumn.MatchString(line) || toolPair(line) || providerIn(line) != ""
	},
	Owns: func(s piece.Segment, line string) bool { return cloudTool(s.Command) != "" },
	Read: reading(readCloud),
}

// cloudTool is the provider whose tool or metadata a command asks; "" none, "any"
// of the metadata that all have.
func cloudTool(command string) string {
	switch name := piece.Program(command); {
	case name == "aws" || name == "ec2-metadata":
		return "aws"
	case name == "az":
		return "azure"
	case name == "gcloud":
		return "gcp"
	case name == "ibmcloud":
		return "ibm-vpc"
	case name == "curl" || name == "wget":
		switch {
		case strings.Contains(command, "metadata.google") || strings.Contains(command, "computeMetadata"):
			return "gcp"
		case strings.Contains(command, "169.254.169.254/metadata"):
			return "azure"
		case strings.Contains(command, "169.254.169.254"):
			return "any"
		}
	}
	return ""
}

// instanceNames are the shapes of types' names, which no other words have.
var instanceNames = []struct {
	provider string
	marks    []string // one of them is in each of these names
	shape    piece.Pattern
}{
	{"aws", []string{"large", "micro", ".small", ".medium", ".metal", ".nano"}, piece.Compile(`\b([a-z]{1,3}\d+[a-z-]*\.(?:nano|micro|small|medium|large|\d*xlarge|metal(?:-\d+xl)?))\b`)},
	{"gcp", []string{"-standard-", "-high", "-ultra", "-mega"}, piece.Compile(`\b((?:[acehmntz]\d[a-z]?|t2[ad]|g2)-(?:standard|highmem|highcpu|ultramem|megamem|megagpu|highgpu|ultragpu)-\d+g?)\b`)},
	{"azure", []string{"Standard_", "_v"}, piece.Compile(`\b(Standard_[A-Z]+\d[\w-]*|[DEFLM][A-Z]?\d+(?:-\d+)?[a-z]{0,4}_v\d)\b`)},
	{"ibm-vpc", []string{"x2-", "x3-", "x2d-", "x3d-", "x1-", "x2a-", "x4-"}, piece.Compile(`\b([bcmvu]x\d[a-z]{0,2}-\d+x\d+)\b`)},
}

// instanceIn is the instance type that a line names.
func instanceIn(line string) (provider, name string, ok bool) {
	if len(line) > 2000 {
		return "", "", false
	}
	for _, n := range instanceNames {
		if !slices.ContainsFunc(n.marks, func(mark string) bool { return strings.Contains(line, mark) }) {
			continue
		}
		if m := n.shape.FindStringSubmatch(line); m != nil {
			return n.provider, m[1], true
		}
	}
	return "", "", false
}

// hosters are providers that sell plans, by their names in a sentence.
var hosters = []string{"OVH", "Hetzner Cloud", "DigitalOcean", "Scaleway", "Linode", "Vultr", "Contabo", "Oracle Cloud", "UpCloud", "IONOS", "Exoscale", "Infomaniak"}

// providerWords are the providers that instances are had from, as sentences name them.
var providerWords = piece.Compile(`\b(Azure|EC2|AWS|GCE|GCP|Google Cloud|Google Compute Engine|IBM Cloud|IBM VPC)\b`)

// providers are theirs by those words.
var providers = map[string]string{"Azure": "azure", "EC2": "aws", "AWS": "aws", "GCE": "gcp", "GCP": "gcp", "Google Cloud": "gcp", "Google Compute Engine": "gcp",
	"IBM Cloud": "ibm", "IBM VPC": "ibm"}

// providerIn is a provider whose cloud a sentence names; "" none.
func providerIn(line string) string {
	if strings.Contains(line, " ") && len(line) < 2000 {
		if m := providerWords.FindStringSubmatch(line); m != nil {
			return providers[m[1]]
		}
	}
	for _, name := range hosters {
		if strings.Contains(line, name) && strings.Contains(line, " ") {
			return strings.ToLower(name)
		}
	}
	return ""
}

var cloudPair = piece.Compile(`^[\s"'|*-]*([A-Za-z][\w ()-]{2,40}?)["']?\s*[:=|]\s*["']?([^"',|{}\[]+)`)

var jsonPair = piece.Compile(`"(\w+)"\s*:\s*"?([^",{}\[\]]+)`)

var ibmColumn = piece.Compile(`^((?:Total v|V|Total network b|Network b|B)(?:olume )?(?:andwidth|olume bandwidth) ?\(Mbps\))\s+(\d+)\s*$`)

// cloudKeys are the tools' words, without case and signs, as facts of the host.
var cloudKeys = map[string]string{"instancetype": "instance", "vmsize": "instance", "machinetype": "instance", "profile": "instance",
	"networkperformance": "network_words", "baselinebandwidthingbps": "baseline_gbps", "peakbandwidthingbps": "peak_gbps",
	"bandwidthmbps": "total_mbps", "networkbandwidthmbps": "network_mbps", "totalnetworkbandwidthmbps": "network_mbps", "volumebandwidthmbps": "volume_mbps", "totalvolumebandwidthmbps": "volume_mbps",
	"totalnetworkbandwidth": "network_mbps", "totalvolumebandwidth": "volume_mbps", "enableacceleratednetworking": "accelerated", "totalegressbandwidthtier": "tier", "nictype": "nic_type"}

// cloudKey is the fact of a tool's word; "" no word of theirs.
func cloudKey(word string) string {
	return cloudKeys[strings.Map(func(r rune) rune {
		if r == ' ' || r == '(' || r == ')' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(word))]
}

func readCloud(s *sink, lines []piece.Line) int {
	provider := cloudTool(s.Segment.Command)
	if provider == "" {
		return s.cloudLines(lines)
	}
	if of, name, ok := instanceIn(s.Segment.Command); ok && of == provider {
		s.Set("said", "cloud", of, lines[0])
		s.Set("said", "instance", name, lines[0])
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		s.cloudLine(text, l)
		if of, name, ok := instanceIn(text); ok && (provider == "any" || of == provider) {
			s.instance(of, name, l)
		}
		return true
	})
}

// toolPair reports a line of a tool's document whose word no other tool has.
func toolPair(line string) bool {
	low := strings.ToLower(line)
	if !strings.Contains(low, "bandwidth") && !strings.Contains(low, "networkperf") && !strings.Contains(low, "acceleratednet") && !strings.Contains(low, "nictype") {
		return false
	}
	m := cloudPair.FindStringSubmatch(line)
	return m != nil && cloudKey(m[1]) != "" && cloudKey(m[1]) != "instance"
}

// cloudLines reads lines that no command explains: pairs of a tool's document, and
// what a sentence names.
func (s *sink) cloudLines(lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if !s.cloudLine(text, l) {
			if i > 0 {
				break // a sentence is read alone: others hear it too
			}
			provider, name, ok := instanceIn(text)
			if hoster := providerIn(text); hoster != "" {
				s.Set("said", "cloud", hoster, l)
			} else if !ok {
				break
			}
			if ok {
				s.Set("said", "cloud", provider, l)
				s.Set("said", "instance", name, l)
			}
			return 1
		}
		read = i + 1
	}
	return read
}

// cloudLine reads the pairs of one line; false for one that has none.
func (s *sink) cloudLine(text string, l piece.Line) (known bool) {
	pairs := jsonPair.FindAllStringSubmatch(text, 64)
	if m := ibmColumn.FindStringSubmatch(text); m != nil {
		pairs = append(pairs, m)
	} else if f := strings.Fields(text); len(f) == 2 && f[0] == "Profile" {
		pairs = append(pairs, []string{"", f[0], f[1]})
	} else if len(pairs) == 0 {
		if m := cloudPair.FindStringSubmatch(text); m != nil {
			pairs = append(pairs, m)
		}
	}
	for _, m := range pairs {
		key, value := cloudKey(m[1]), strings.TrimSpace(m[2])
		switch key {
		case "":
			continue
		case "instance":
			provider, name, ok := instanceIn(path.Base(value))
			if !ok {
				continue
			}
			s.instance(provider, name, l)
		default:
			s.Set("host", key, value, l)
		}
		known = true
	}
	return known
}

func (s *sink) instance(provider, name string, l piece.Line) {
	s.Set("host", "cloud", provider, l)
	s.Set("host", "instance", name, l)
	s.Set("said", "cloud", provider, l) // a tool often runs on another machine
	s.Set("said", "instance", name, l)
}
