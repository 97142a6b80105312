package runtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// CopyRates reads what programs that copy say of their own rate: dd, fio, scp, rsync,
// curl, wget, pv, rclone.
var CopyRates = piece.Reader{
	Kind:     "copy",
	Commands: []string{"dd", "fio", "scp", "rsync", "curl", "wget", "pv", "rclone", "smbclient"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.Contains(text, " copied"), strings.Contains(text, "bytes transferred in"):
			return ddRow.MatchString(text) || ddBSD.MatchString(text)
		case strings.HasSuffix(text, " records in"), strings.HasSuffix(text, " records out"):
			return true
		case strings.Contains(text, "bw=") || strings.Contains(text, "BW=") || strings.Contains(text, "aggrb="):
			return fioRow.MatchString(text)
		case strings.Contains(text, "iodepth="):
			return fioHead.MatchString(text)
		case strings.HasPrefix(text, "clat ("):
			return fioWait.MatchString(text)
		case strings.HasPrefix(text, "% Total"):
			return true
		case strings.Contains(text, "% "):
			return scpRow.MatchString(text)
		case strings.HasPrefix(text, "sent ") && strings.Contains(text, "bytes/sec"):
			return true
		case strings.Contains(text, " saved ["):
			return wgetRow.MatchString(text)
		case strings.HasPrefix(text, "sending incremental file list"), strings.HasPrefix(text, "Run status group"):
			return true
		}
		return false
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Program() == "curl" && curlRow.MatchString(line)
	},
	Read: reading(readCopyRates),
}

var ddRow = piece.Compile(`^(\d+) (?:bytes|Bytes|octets|байт)[^)]*(?:\([^)]*\) )?[^,]*, ?([\d.,]+(?:e[-+]\d+)?) ?s\w*, ([\d.,]+) ([kKMGT]?)(i?)B/s$`)

var ddBSD = piece.Compile(`^(\d+) bytes transferred in ([\d.]+) secs \((\d+) bytes/sec\)`)

var fioRow = piece.Compile(`^\s*(read|write|READ|WRITE|TRIM|trim)\s*:\s+(.*\b(?:bw|BW|aggrb)=)([\d.]+)\s*([KMGT]?)(i?)B/s(.*)$`)

// fioHead is a job's own line: its blocks of reads and of writes, and its depth.
var fioHead = piece.Compile(`^\s*[\w.-]+: \(g=\d+\): rw=(\w+), bs=(?:\(R\) )?([\d.]+[KMkm]?B?)-[\d.]+[KMkm]?B?(?:(?:, \(W\) |/)([\d.]+[KMkm]?B?)-[^,]*)?.*\biodepth=(\d+)`)

var fioSize = piece.Compile(`^([\d.]+)([KMkm]?)`)

// fioWait is how long requests take from there to their end.
var fioWait = piece.Compile(`^\s*clat \(([num])sec\s*\):.*\bavg= ?([\d.]+)`)

var fioBytes = piece.Compile(`\(([\d.]+)([kKMGT]?)B/s\)`)

var fioTime = piece.Compile(`run=(\d+)-(\d+)msec|/(\d+)msec\)`)

var scpRow = piece.Compile(`(?:^|\s)(\d{1,3})%\s+(?:([\d.,]+ ?[kKMGT]?B?)\s+)?([\d.]+)([kKMGT]?)B/s(?:\s+([\d:]+))?`)

var rsyncRow = piece.Compile(`^sent ([\d.,]+)([KMGT]?) bytes\s+received ([\d.,]+)([KMGT]?) bytes\s+([\d.,]+)([KMGT]?) bytes/sec`)

var rsyncSize = piece.Compile(`^total size is .*speedup is`)

var wgetRow = piece.Compile(`\(([\d.,]+) ([KMGT]?)(B|b)/s\) - .* saved \[`)

var curlRow = piece.Compile(`^\s*(\d{1,3})\s+([\d.]+[kMGTP]?)\s+(\d{1,3})\s+([\d.]+[kMGTP]?)\s+\d{1,3}\s+[\d.]+[kMGTP]?\s+([\d.]+)([kMGTP]?)\s+([\d.]+)([kMGTP]?)\s+[\d:-]+\s+([\d:-]+)\s+[\d:-]+\s+[\d.]+[kMGTP]?$`)

func readCopyRates(s *sink, lines []piece.Line) (read int) {
	kind := ""
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		run, own := piece.NewRun(""), true
		switch {
		case ddRow.MatchString(text):
			m := ddRow.FindStringSubmatch(text)
			scale := piece.Decimal[m[4]]
			if m[5] == "i" {
				scale = piece.Kibi[m[4]]
			}
			run.Tool, run.Seconds, run.Rate = "dd", piece.Float(m[2]), unit.BitRate(piece.Float(m[3])*scale*8)
			if n, sec := piece.Float(m[1]), run.Seconds; sec > 0 {
				run.Rate = unit.FromBytes(n, sec) // the printed rate is rounded
			}
			s.ddPaths(&run)
		case ddBSD.MatchString(text):
			m := ddBSD.FindStringSubmatch(text)
			run.Tool, run.Seconds, run.Rate = "dd", piece.Float(m[2]), unit.BitRate(piece.Float(m[3])*8)
			s.ddPaths(&run)
		case fioRow.MatchString(text):
			own = s.fio(&run, text)
		case fioHead.MatchString(text):
			s.Topic("fio", text, l)
			own = false
		case fioWait.MatchString(text):
			s.fioWaits(text, l)
			own = false
		case scpRow.MatchString(text):
			own = copying(&run, text, s.Segment.Program())
		case rsyncRow.MatchString(text):
			m := rsyncRow.FindStringSubmatch(text)
			run.Tool, run.Rate = "rsync", unit.BitRate(thousands(m[5])*piece.Kibi[m[6]]*8)
			run.Remark("sent_bytes", strings.ReplaceAll(m[1], ",", "")+m[2])
			run.Remark("received_bytes", strings.ReplaceAll(m[3], ",", "")+m[4])
		case wgetRow.MatchString(text):
			m := wgetRow.FindStringSubmatch(text)
			run.Tool, run.Rate = "wget", unit.BitRate(piece.Float(m[1])*piece.Kibi[m[2]]*8)
			if m[3] == "b" {
				run.Rate = unit.BitRate(piece.Float(m[1]) * piece.Decimal[m[2]])
			}
		case curlRow.MatchString(text) && (kind == "curl" || s.Segment.Program() == "curl"):
			m := curlRow.FindStringSubmatch(text)
			run.Tool = "curl"
			down, up := piece.Float(m[5])*piece.Kibi[m[6]], piece.Float(m[7])*piece.Kibi[m[8]]
			run.Rate, run.Reverse, run.Seconds = unit.BitRate(max(down, up)*8), down >= up, clock(m[9])
		case strings.HasPrefix(text, "% Total") || kind == "curl" && strings.HasPrefix(text, "Dload"):
			kind, own = "curl", false
		case strings.HasSuffix(text, " records in") || strings.HasSuffix(text, " records out") || rsyncSize.MatchString(text):
			own = false
		default:
			if !copyOther.MatchString(text) {
				return read
			}
			own = false
		}
		read = i + 1
		if own && run.Tool != "" {
			run.Client = s.Segment.Host
			s.AddRun(run, lines[i:i+1])
		}
	}
	return read
}

// copyOther are lines of these programs that say nothing of a rate.
var copyOther = piece.Compile(`^(?:sending incremental file list|receiving incremental file list|Run status|Disk stats|\w+: \(groupid|\s*(?:slat|clat|lat|bw|iops|cpu|IO depths|IO depth|Jobs: \d|submit|complete|issued|latency|clat percentiles|lat \(\w+\)) *[(:]|\| +[\d.]+th|fio-\d|Starting \d|\s*[vsh]d\w+: ios=|100%)`)

// thousands is a number with separators.
func thousands(s string) float64 { return piece.Float(strings.ReplaceAll(s, ",", "")) }

// ddPaths notes what dd read and wrote.
func (s *sink) ddPaths(run *piece.Run) {
	for _, w := range s.CallOf("dd") {
		if v, ok := strings.CutPrefix(w, "if="); ok {
			run.Remark("from", v)
		} else if v, ok := strings.CutPrefix(w, "of="); ok {
			run.Remark("to", v)
		} else if key, v, ok := strings.Cut(w, "="); ok && (key == "bs" || key == "oflag" || key == "iflag" || key == "conv") {
			run.Remark(key, v)
		}
	}
}

// fio reads a group's row, or one job's; false for a job's where a group's follows.
func (s *sink) fio(run *piece.Run, text string) bool {
	m := fioRow.FindStringSubmatch(text)
	run.Tool = "fio"
	run.Remark("direction", strings.ToLower(m[1]))
	scale := piece.Kibi[m[4]] // fio's older KB is 1024 as well
	run.Rate = unit.BitRate(piece.Float(m[3]) * scale * 8)
	if b := fioBytes.FindStringSubmatch(m[6]); b != nil && m[5] == "i" {
		run.Rate = unit.BitRate(piece.Float(b[1]) * piece.Decimal[b[2]] * 8)
	}
	if t := fioTime.FindStringSubmatch(text); t != nil {
		run.Seconds = max(piece.Float(t[2]), piece.Float(t[3])) / 1000
	}
	if m[1] == strings.ToLower(m[1]) { // a job's own
		run.Remark("job", "one")
	}
	if x, ok := s.C.Topics["fio"]; ok && len(s.Segment.Lines) > 0 && x.File == s.Segment.Lines[0].File {
		head := fioHead.FindStringSubmatch(x.Text)
		run.Remark("iodepth", head[4])
		size := head[2] // of reads, and of writes where they have their own
		if head[3] != "" && run.Detail["direction"] == "write" {
			size = head[3]
		}
		if n := fioSize.FindStringSubmatch(size); n != nil {
			run.Remark("block_bytes", strconv.FormatFloat(piece.Float(n[1])*piece.Kibi[strings.ToUpper(n[2])], 'f', 0, 64))
		}
	}
	if call := s.CallOf("fio"); call != nil {
		run.Remark("directory", call.Value("--directory", "--filename"))
		run.Parallel = call.Number("--numjobs")
	}
	return true
}

// fioWaits notes how long each request of the job above took.
func (s *sink) fioWaits(text string, l piece.Line) {
	if len(s.C.Runs) == 0 {
		return
	}
	m, last := fioWait.FindStringSubmatch(text), &s.C.Runs[len(s.C.Runs)-1]
	if last.Tool == "fio" && last.File == l.File && l.Number-last.To <= 4 && last.Detail["clat_us"] == "" {
		last.Remark("clat_us", strconv.FormatFloat(piece.Float(m[2])*map[string]float64{"n": 1e-3, "u": 1, "m": 1e3}[m[1]], 'f', 3, 64))
	}
}

// copying reads the bar of scp and of rsync --progress.
func copying(run *piece.Run, text, command string) bool {
	m := scpRow.FindStringSubmatch(text)
	run.Tool = command
	if run.Tool != "scp" && run.Tool != "rsync" && run.Tool != "sftp" && run.Tool != "pv" {
		run.Tool = "scp"
		if m[2] == "" {
			run.Tool = "rsync"
		}
	}
	run.Rate = unit.BitRate(piece.Float(m[3]) * piece.Kibi[m[4]] * 8)
	run.Remark("percent", m[1])
	return run.Rate > 0
}

// clock is h:mm:ss in seconds; 0 for what is none.
func clock(s string) float64 {
	total := 0.0
	for _, part := range strings.Split(s, ":") {
		n := piece.Whole(part)
		if n < 0 {
			return 0
		}
		total = total*60 + float64(n)
	}
	return total
}
