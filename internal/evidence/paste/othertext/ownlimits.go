package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// OwnLimits reads what a program that copies is limited to by its own options or
// settings, wherever that stands: commands, crontabs, ps, vzdump's log and
// configuration, and pages of a NAS. Limits are "limit PROGRAM" with bps and words.
var OwnLimits = piece.Reader{
	Kind:     "a program's own limit",
	Commands: []string{"vzdump", "pvesh", "crontab", "ps", "cat", "grep", "tail", "head"},
	Starts: func(line string) bool {
		return vzdumpLog.MatchString(line) || pbsLimit.MatchString(line) || strings.Contains(line, "migration active, transferred") || vzdumpConf.MatchString(line) || limitWords.MatchString(line) || strings.Contains(line, "-") && limitOf(line) != nil
	},
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Command+s.Path, "vzdump.conf") && vzdumpOther.MatchString(line)
	},
	Asked: func(s *piece.Sink, at piece.Line) {
		if found := limitOf(s.Segment.Command); found != nil {
			(&sink{s}).limit(found.program, found.words, found.bits, at)
		}
	},
	Read: reading(readOwnLimits),
}

var vzdumpLog = piece.Compile(`^\s*INFO: +(?:starting new backup job: vzdump|Starting Backup of VM|bandwidth limit: \d+ [KM]iB/s|\d+% \([\d.]+ \w+ of [\d.]+ \w+\)|transferred [\d.]+ \w+ in|status: \d+% )`)

var vzdumpAny = piece.Compile(`^\s*(?:INFO|WARN|ERROR): `)

// pbsLimit is a row of proxmox-backup-manager traffic-control list.
var pbsLimit = piece.Compile(`^\s*│ (\S+)\s+│[^│]*│ ([\d.]+) ([KMG])i?B\s+│`)

var migrationRate = piece.Compile(`migration active, transferred .* VM-state, ([\d.]+) ([KMG])iB/s`)

var vzdumpLimit = piece.Compile(`bandwidth limit: (\d+) ([KM])iB/s`)

var vzdumpRate = piece.Compile(`\b(?:read|write): ([\d.]+) ([KMG])iB/s|\(([\d.]+) ([KMG])iB/s\)`)

var vzdumpConf = piece.Compile(`^\s*bwlimit: (?:(\d+)$|(?:(default|migration|clone|move|restore)=\d+,?)+$)`)

var vzdumpOther = piece.Compile(`^\s*(?:[a-z-]+: \S|#)`)

var limitWords = piece.Compile(`(?i)^\s*(?:[-*] )?(?:max(?:imum|\.)? )?(?:(?:bandwidth|speed|rate|traffic|upload|download|transfer)[ -]?){1,3}(?:limit|cap|restriction)\w*(?: \([^)]*\))?\s*[:=]\s*([\d.]+) ?([KMG]?)i?(B|b|bit|byte)s?(?:/s|ps)\b`)

// programLimit is a program's option that limits it, with the bits of one unit where
// the value has no letter.
type programLimit struct {
	option piece.Pattern
	base   float64 // bits of the bare number
	letter float64 // bits of a K: 8*1024 or 1000
}

// programLimits are by the program: rsync(1), rclone docs, curl(1), wget(1), scp(1),
// borg, restic, pv(1), mbuffer(1), lftp(1), trickle(1).
var programLimits = map[string]programLimit{
	"rsync":     {piece.Compile(`--bwlimit[= ]([\d.]+)([kKmMgG]?)(?:i?[bB])?\b`), 8 * 1024, 8 * 1024},
	"rclone":    {piece.Compile(`--bwlimit[= ]"?([\d.]+)([kKmMgGbB]?)(?:i?[bB])?(?::\S*)?\b`), 8 * 1024, 8 * 1024},
	"curl":      {piece.Compile(`--limit-rate[= ]([\d.]+)([kKmMgG]?)\b`), 8, 8 * 1024},
	"wget":      {piece.Compile(`--limit-rate[= ]([\d.]+)([kKmMgG]?)\b`), 8, 8 * 1024},
	"scp":       {piece.Compile(`\s-l ?(\d+)()\b`), 1000, 1000},
	"sftp":      {piece.Compile(`\s-l ?(\d+)()\b`), 1000, 1000},
	"borg":      {piece.Compile(`--(?:upload-ratelimit|remote-ratelimit)[= ](\d+)()\b`), 8 * 1024, 8 * 1024},
	"restic":    {piece.Compile(`--limit-(?:upload|download)[= ](\d+)()\b`), 8 * 1024, 8 * 1024},
	"pv":        {piece.Compile(`(?:\s-[a-z]*L ?|--rate-limit[= ])([\d.]+)([kKmMgG]?)\b`), 8, 8 * 1024},
	"mbuffer":   {piece.Compile(`\s-[rR] ?([\d.]+)([kKmMgG]?)\b`), 8, 8 * 1024},
	"trickle":   {piece.Compile(`\s-[du] ?(\d+)()\b`), 8 * 1024, 8 * 1024},
	"syncoid":   {piece.Compile(`--(?:source|target)-bwlimit[= ]([\d.]+)([kKmMgG]?)\b`), 8, 8 * 1024},
	"vzdump":    {piece.Compile(`--?bwlimit[= ](\d+)()\b`), 8 * 1024, 8 * 1024},
	"dladm":     {piece.Compile(`\smaxbw=([\d.]+)([kKmMgG]?)\b`), 1e6, 1000},
	"flowadm":   {piece.Compile(`\smaxbw=([\d.]+)([kKmMgG]?)\b`), 1e6, 1000},
	"qmrestore": {piece.Compile(`--?bwlimit[= ](\d+)()\b`), 8 * 1024, 8 * 1024},
}

// foundLimit is a limit that a command line sets.
type foundLimit struct {
	program, words string
	bits           float64
}

var commandWord = piece.Compile(`(?:^|[\s/|;&"'(])(rsync|rclone|curl|wget|scp|sftp|borg|restic|pv|mbuffer|trickle|syncoid|vzdump|qmrestore|dladm|flowadm)(?:\.exe)?\s`)

// limitOf is the limit that a command line sets; nil none.
func limitOf(line string) *foundLimit {
	if len(line) > 4096 || !strings.Contains(line, " -") {
		return nil
	}
	for _, m := range commandWord.FindAllStringSubmatchIndex(line, 8) {
		program := line[m[2]:m[3]]
		rest, p := line[m[3]:], programLimits[program]
		if at := strings.IndexByte(rest, '|'); at >= 0 {
			rest = rest[:at]
		}
		v := p.option.FindStringSubmatch(rest)
		if v == nil {
			continue
		}
		bits, kilo := piece.Float(v[1])*p.base, 1024.0
		if p.letter == 1000 {
			kilo = 1000
		}
		switch strings.ToUpper(v[2]) {
		case "B":
			bits = piece.Float(v[1]) * 8
		case "K":
			bits = piece.Float(v[1]) * p.letter
		case "M":
			bits = piece.Float(v[1]) * p.letter * kilo
		case "G":
			bits = piece.Float(v[1]) * p.letter * kilo * kilo
		}
		if bits > 0 {
			return &foundLimit{program, strings.TrimSpace(v[0]), bits}
		}
	}
	return nil
}

func (s *sink) limit(program, words string, bits float64, l piece.Line) {
	if bits <= 0 || bits > 1e14 {
		return
	}
	s.Set("limit "+program, "bps", strconv.FormatFloat(bits, 'f', 0, 64), l)
	s.Set("limit "+program, "words", words, l)
}

func readOwnLimits(s *sink, lines []piece.Line) int {
	rate, last, first := 0.0, piece.Line{}, piece.Line{}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := vzdumpLimit.FindStringSubmatch(text); m != nil {
			s.limit("vzdump", m[0], piece.Float(m[1])*8*piece.Kibi[m[2]], l)
			return true
		}
		if m := pbsLimit.FindStringSubmatch(text); m != nil {
			s.limit("traffic control ("+m[1]+")", "rate-in "+m[2]+" "+m[3]+"B", 8*piece.Float(m[2])*piece.Decimal[m[3]], l)
			return true
		}
		if m := migrationRate.FindStringSubmatch(text); m != nil {
			run := piece.NewRun("migration")
			run.Rate, run.Client = unit.BitRate(8*piece.Float(m[1])*piece.Kibi[m[2]]), s.Segment.Host
			s.AddRun(run, []piece.Line{l})
			return true
		}
		if strings.HasPrefix(text, "│") || strings.Trim(text, "┌─┬┐╞═╪╡└┴┘ ") == "" {
			return true
		}
		if vzdumpAny.MatchString(text) {
			if m := vzdumpRate.FindStringSubmatch(text); m != nil {
				rate, last = 8*piece.Float(m[1]+m[3])*piece.Kibi[m[2]+m[4]], l
			}
			return true
		}
		if m := vzdumpConf.FindStringSubmatch(text); m != nil {
			for _, part := range strings.Split(strings.TrimPrefix(text, "bwlimit: "), ",") {
				name, value, named := strings.Cut(part, "=")
				if !named {
					name, value = "vzdump", part
				}
				s.limit(name, "bwlimit: "+part, piece.Float(value)*8*1024, l)
			}
			return true
		}
		if m := limitWords.FindStringSubmatch(text); m != nil {
			bits := piece.Float(m[1]) * piece.Decimal[strings.ToUpper(m[2])]
			if m[3] == "B" || strings.EqualFold(m[3], "byte") {
				bits = 8 * piece.Float(m[1]) * piece.Kibi[strings.ToUpper(m[2])]
			}
			s.limit("the job", strings.TrimSpace(m[0]), bits, l)
			return true
		}
		if found := limitOf(text); found != nil {
			s.limit(found.program, found.words, found.bits, l)
			return true
		}
		if first.Number == 0 {
			first = l
		}
		return strings.Contains(s.Segment.Command+s.Segment.Path, "vzdump.conf") && vzdumpOther.MatchString(text)
	})
	if rate > 0 {
		run := piece.NewRun("vzdump")
		run.Rate, run.Client = unit.BitRate(rate), s.Segment.Host
		s.AddRun(run, []piece.Line{last})
	}
	return read
}
