package runtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// RDMATests reads perftest (ib_write_bw and its kin), NCCL-tests and the variables and
// messages of NCCL that say which way it went.
var RDMATests = piece.Reader{
	Kind:     "RDMA test",
	Commands: []string{"ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat", "ib_read_lat", "raw_ethernet_bw", "all_reduce_perf", "sendrecv_perf", "env", "printenv", "export", "mpirun"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasSuffix(text, " BW Test") || strings.HasSuffix(text, "BW Test") && strings.Contains(text, "_BW"), strings.HasSuffix(text, "Latency Test"), strings.Contains(text, "#iterations") && strings.Contains(text, "BW"):
			return true
		case strings.HasPrefix(text, "Dual-port "), strings.HasPrefix(text, "Number of qps"):
			return true
		case strings.HasPrefix(text, "# nThread"), strings.HasPrefix(text, "# nccl-tests"), strings.HasPrefix(text, "# Using devices"), strings.HasPrefix(text, "# Avg bus bandwidth"):
			return true
		case strings.Contains(text, "NCCL_"):
			return ncclVariable.MatchString(text)
		case strings.Contains(text, "NCCL INFO"):
			return true
		}
		return strings.HasPrefix(text, "#") && strings.Contains(text, "busbw")
	},
	Owns: func(s piece.Segment, line string) bool {
		return perftests[s.Program()] && perftestRow.MatchString(line) || strings.HasSuffix(s.Program(), "_perf") && ncclRow(line) != nil
	},
	Read: reading(readRDMATests),
}

var perftests = piece.Words("ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw raw_ethernet_bw")

var perftestRow = piece.Compile(`^\s*(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)((?:\s+[\d.]+)*)\s*$`)

var perftestPair = piece.Compile(`([A-Z][\w*./ -]*?|ibv_wr\* API|rdma_cm QPs)\s*:\s*(\S+)`)

var perftestOther = piece.Compile(`^(?:-----|local address|remote address|GID|Mtu|Link type|TX depth|CQ Moderation|RX depth|Max inline|Data ex|rdma_cm|Connection type|PCIe relax|ibv_wr|Number of qps|Dual-port|Conflicting CPU|WARNING|Waiting for client|\*+|Post List|GID index|Lock-free|Using )`)

var ncclVariable = piece.Compile(`^(?:export |-x |set )?(NCCL_[A-Z0-9_]+)[=:]\s*"?([^"\s]*)"?$`)

var ncclUsing = piece.Compile(`NET/(IB|Socket|OFI|Plugin\S*) ?: ?(?:Using )?(.*)$`)

var ncclVia = piece.Compile(`via NET/(IB|Socket)/(\d+)`)

func readRDMATests(s *sink, lines []piece.Line) int {
	text := strings.TrimSpace(lines[0].Text)
	switch {
	case strings.Contains(text, "NCCL INFO") || ncclVariable.MatchString(text):
		return s.ncclSays(lines)
	case strings.HasPrefix(text, "# ") && !strings.Contains(text, "#iterations") || strings.Contains(text, "busbw") || ncclRow(text) != nil && strings.HasSuffix(s.Segment.Program(), "_perf"):
		return s.ncclTest(lines)
	}
	return s.perftest(lines)
}

// perftest reads a run of ib_write_bw: its head, and the rows of the sizes.
func (s *sink) perftest(lines []piece.Line) (read int) {
	run := piece.NewRun(s.Segment.Program())
	if !perftests[run.Tool] {
		run.Tool = "perftest"
	}
	run.Client = s.Segment.Host
	gigabits := s.CallOf(run.Tool).Has("--report_gbits")
	columns := ""
	rows := 0
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := perftestRow.FindStringSubmatch(text)
		switch {
		case strings.HasSuffix(text, "BW Test") || strings.HasSuffix(text, "Latency Test"):
			if rows > 0 {
				text = ""
				break
			}
			run.Remark("test", text)
		case strings.Contains(text, "#iterations"):
			columns = text
			gigabits = strings.Contains(text, "Gb/sec")
		case m != nil:
			// Sizes rise: the last row is the largest.
			rows++
			run.Remark("size", m[1])
			scale := 8 * piece.Kibi["M"]
			if gigabits {
				scale = 1e9
			}
			run.Rate = unit.BitRate(piece.Float(m[4]) * scale)
			if more := strings.Fields(m[6]); strings.Contains(columns, "Port1") && len(more) >= 2 {
				for n := 0; n+1 < len(more) && n < 4; n += 2 {
					run.Streams = append(run.Streams, piece.Stream{Rate: unit.BitRate(piece.Float(more[n+1]) * scale), Retransmits: -1})
				}
			}
		case perftestOther.MatchString(text):
			for _, pair := range perftestPair.FindAllStringSubmatch(text, 4) {
				if key, ok := perftestKeys[strings.TrimSpace(pair[1])]; ok {
					run.Remark(key, pair[2])
				}
			}
		default:
			text = ""
		}
		if text == "" {
			break
		}
		read = i + 1
	}
	call := s.CallOf(run.Tool)
	if d := call.Value("-d", "--ib-dev"); run.Detail["device"] == "" {
		run.Remark("device", d)
	}
	if q := call.Value("-q", "--qp"); run.Detail["qps"] == "" {
		run.Remark("qps", q)
	}
	run.Parallel = int(max(piece.Whole(run.Detail["qps"]), 0))
	if rows > 0 {
		s.AddRun(run, lines[:read])
	}
	return read
}

var perftestKeys = map[string]string{"Device": "device", "Number of qps": "qps", "Connection type": "connection", "Mtu": "mtu", "Link type": "link_type", "Dual-port": "dual_port"}

// ncclRow are the fields of a row of NCCL-tests: size, count, type, then time, algbw and
// busbw out of place and in place; nil for another line.
func ncclRow(line string) []string {
	f := strings.Fields(line)
	if len(f) < 7 || piece.Whole(f[0]) <= 0 || piece.Whole(f[1]) < 0 {
		return nil
	}
	switch f[2] {
	case "float", "half", "double", "int8", "uint8", "int32", "int64", "uint32", "uint64", "bfloat16", "fp8", "f8e4m3", "f8e5m2":
		return f
	}
	return nil
}

// ncclBusbw is the busbw out of place of a row, in GB/s; 0 none. A row ends with time,
// algbw, busbw and errors out of place, and the same in place; time has no point where
// it is long, and redop and root are there or not, by version.
func ncclBusbw(row []string) float64 {
	if n := len(row); n >= 11 {
		return piece.Float(row[n-6])
	}
	var figures []float64
	for _, f := range row[3:] {
		if strings.ContainsRune(f, '.') {
			figures = append(figures, piece.Float(f))
		}
	}
	if len(figures) < 3 {
		return 0
	}
	return figures[2]
}

// ncclTest reads a run of NCCL-tests. Its average mixes small messages in: the busbw of
// the largest is the run's.
func (s *sink) ncclTest(lines []piece.Line) (read int) {
	run := piece.NewRun("nccl-tests")
	run.Client = s.Segment.Host
	largest := int64(0)
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if row := ncclRow(text); row != nil {
			if size := piece.Whole(row[0]); size >= largest {
				if busbw := ncclBusbw(row); busbw > 0 {
					largest = size
					run.Rate = unit.BitRate(busbw * 8e9)
					run.Remark("size", row[0])
					run.Remark("bandwidth", "busbw")
				}
			}
		} else if strings.HasPrefix(text, "#") {
			if at := strings.Index(text, " on "); at > 0 && strings.Contains(text, "Rank") {
				run.Parallel++
			}
			if _, value, ok := strings.Cut(text, "Avg bus bandwidth"); ok {
				run.Remark("average_busbw_gbytes", strings.Trim(value, " :"))
				read = i + 1
				break
			}
		} else if strings.Contains(text, "NCCL INFO") {
			s.ncclInfo(text, l)
		} else {
			break
		}
		read = i + 1
	}
	if run.Rate > 0 {
		s.AddRun(run, lines[:read])
	}
	return read
}

// ncclSays reads variables and messages as facts of the host.
func (s *sink) ncclSays(lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if m := ncclVariable.FindStringSubmatch(text); m != nil {
			s.Set("nccl", m[1], m[2], l)
		} else if strings.Contains(text, "NCCL INFO") {
			s.ncclInfo(text, l)
		} else if text != "" {
			break
		}
		if text != "" {
			read = i + 1
		}
	}
	return read
}

func (s *sink) ncclInfo(text string, l piece.Line) {
	if m := ncclUsing.FindStringSubmatch(text); m != nil && strings.Contains(text, "Using") {
		s.Set("nccl", "net", m[1], l)
		s.Set("nccl", "devices", strings.TrimSpace(m[2]), l)
	} else if m := ncclVia.FindStringSubmatch(text); m != nil {
		s.Set("nccl", "net", m[1], l)
	}
	if m := ncclSet.FindStringSubmatch(text); m != nil {
		s.Set("nccl", m[1], m[2], l)
	}
}

var ncclSet = piece.Compile(`(NCCL_[A-Z0-9_]+) set by environment to (\S+?)\.?$`)
