package pasted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// mostOfDescription is how sure an answer to a description may be of any cause.
const mostOfDescription = 0.3

// TestDescriptions has texts that describe a program, a protocol or a change: what they
// say of slow links is nobody's case.
func TestDescriptions(t *testing.T) {
	texts := map[string]string{
		"manual page": "WIREHOSE(8)            System Manager's Manual            WIREHOSE(8)\n\nNAME\n       wirehose - move bytes\n\nSYNOPSIS\n       wirehose [-w SIZE] HOST\n\nDESCRIPTION\n       Raising the window with -w makes it ten times faster over a long path, as\n       a small window is the limit there.\n\nOPTIONS\n       -w SIZE  the window\n",
		"standard":    "Network Working Group                                          A. Nobody\nRequest for Comments: 99999\n\nStatus of This Memo\n\n   A receiver with a window that is too small limits a connection to 64 KiB in\n   each round trip of 100 ms, whatever the link carries.\n",
		"change log":  "wirehose (1.2-1) unstable; urgency=medium\n\n  * A larger receive buffer helps: over 80 ms it is four times as fast now.\n\n -- Nobody <n@example.org>  Mon, 01 Jan 2024 00:00:00 +0000\n\nwirehose (1.1-1) unstable; urgency=medium\n\n  * iperf3 before 3.16 was slower than nuttcp with all its streams in one thread.\n",
		"commits":     "commit " + strings.Repeat("a1", 20) + "\nAuthor: Nobody\n\n    Without TSO it is fast: the card drops what it makes of large packets.\n\ncommit " + strings.Repeat("b2", 20) + "\nAuthor: Nobody\n\n    With one queue all packets come to one core, which was full by that.\n",
		"rst":         ".. SPDX-License-Identifier: GPL-2.0\n\nRing driver\n===========\n\nParameters\n----------\n\n" + strings.Repeat("A larger ring helps where the driver drops frames before the core empties it, and\nflow control makes the difference where a slow receiver is behind the switch, as\nall packets of a tunnel come by one queue and to one core of the machine.\n", 5),
	}
	for _, pattern := range []string{"../../README.md", "../../CHANGELOG.md", "../../docs/*.md", "../../docs/howto/*.md", "../../docs/reference/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no ", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	for name, text := range texts {
		c := paste.Parse([]piece.Text{{Name: name, Bytes: []byte(text)}})
		if f := Judge(c).Findings[0]; f.Cause != record.Unknown && f.Confidence > mostOfDescription {
			t.Errorf("%s: %s %.2f, %s", name, f.Cause, f.Confidence, f.Summary)
		}
		if !strings.HasSuffix(name, ".md") && len(c.Described) == 0 {
			t.Errorf("%s: not told as a description", name)
		}
	}
}

// TestNoDescription has cases that look like descriptions: with headings of a form, in a
// mail that is wrapped by hand, and a file with many comments.
func TestNoDescription(t *testing.T) {
	said := "I see this on my two servers every day, and I have no idea where to look for it.\n"
	for name, text := range map[string]string{
		"form":     "### Describe the bug\n\n" + strings.Repeat("Copies between the two servers of this site are slower than they should be here.\n", 12) + "\n### Expected behavior\n\nfull speed\n\n### Actual behavior\n\n100 MB/s\n",
		"mail":     strings.Repeat("The link between both of these sites is rather slow since somebody changed the\nfirewall there and nobody knows what was done to it in the meantime, so that\ncopies take hours.\n"+said, 12),
		"comments": "[global]\n" + strings.Repeat("# This option says how many connections a client may open to one server at all.\n", 30) + "   server multi channel support = yes\n",
		"legends":  strings.Repeat("Group state listing\n-------------------\nFlags:  S - Device is sending Slow LACPDUs   F - Device is sending fast LACPDUs\n\n", 15),
		"session":  strings.Repeat("\n# show neighbours\nPort 1 is the port that leads to the other switch, up\n", 15),
		"German":   "## Aufbau\n\n" + strings.Repeat("Zwischen meinen beiden Servern kommen die Kopien nur mit einem Teil davon an.\n", 8) + "\n## Was versucht wurde\n\n" + strings.Repeat("Wir haben die Kabel getauscht und den Switch neu gestartet, leider ohne Erfolg.\n", 8) + "\n## Fragen\n\nWoran liegt es?\n",
		"log":      strings.Repeat("%LINK-3-UPDOWN: interface of the other side has changed its state to down again\n", 60),
	} {
		if c := paste.Parse([]piece.Text{{Name: name, Bytes: []byte(text)}}); len(c.Described) > 0 {
			t.Errorf("%s: told as %s", name, c.Described[0].Kind)
		}
	}
	for _, root := range []string{"testdata", corpus} {
		files, _ := filepath.Glob(filepath.Join(root, "*.txt"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if c := paste.Parse([]piece.Text{{Name: file, Bytes: text}}); len(c.Described) > 0 {
				t.Errorf("%s: told as %s", file, c.Described[0].Kind)
			}
		}
	}
}
