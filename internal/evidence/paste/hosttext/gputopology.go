package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// GPUTopology reads `nvidia-smi topo -m`: by which way each GPU reaches the network cards.
// It sets for each "gpu" the nearest way ("near") by NVIDIA's words: PIX and PXB are PCIe
// switches alone, PHB the CPU's root, NODE another root of it, SYS another CPU.
var GPUTopology = piece.Reader{
	Kind:     "nvidia-smi topo",
	Commands: []string{"nvidia-smi"},
	Starts:   func(line string) bool { return topologyHead.MatchString(line) },
	Read:     reading(readGPUTopology),
}

var (
	topologyHead = piece.Compile(`^\s*GPU0\s+(?:GPU\d+\s+|NIC\d+\s+|mlx\d\S*\s+)*(?:NIC\d+|mlx\d\S*)`)
	topologyRow  = piece.Compile(`^\s*(GPU\d+|NIC\d+|mlx\d\S*)\s+(?:X|SYS|NODE|PHB|PXB|PIX|NV\d+)\s`)
)

// nearness are the ways from the nearest on.
var nearness = []string{"PIX", "PXB", "PHB", "NODE", "SYS"}

func readGPUTopology(s *sink, lines []piece.Line) (read int) {
	heads := strings.Fields(lines[0].Text)
	for i, l := range lines[1:] {
		m := topologyRow.FindStringSubmatch(l.Text)
		if m == nil {
			break
		}
		read = i + 2
		if ways := strings.Fields(l.Text)[1:]; strings.HasPrefix(m[1], "GPU") {
			s.Set("gpu "+m[1], "near", nearest(heads, ways), l)
		}
	}
	return read
}

// nearest is the nearest way to a card in a row of ways, whose columns have these heads.
func nearest(heads, ways []string) string {
	for _, near := range nearness {
		for i, way := range ways[:min(len(ways), len(heads))] {
			if way == near && !strings.HasPrefix(heads[i], "GPU") {
				return near
			}
		}
	}
	return ""
}
