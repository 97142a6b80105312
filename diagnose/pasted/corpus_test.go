package pasted

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// corpus is where public questions with their true causes lie: beside the project, or
// where LINERATE_PASTES says.
var corpus = cmp.Or(os.Getenv("LINERATE_PASTES"), "../../../shared/field/paste")

// truth is a question's true cause, and what an answer must and must not say.
type truth struct {
	ID         string   `json:"id"`
	File       string   `json:"file"`
	Cause      string   `json:"cause"`
	AlsoRight  []string `json:"also_right"`
	MustSay    []string `json:"must_say"`
	MustNotSay []string `json:"must_not_say"`
}

func truths(t *testing.T, dir string) (out []truth) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		t.Skip("no public questions beside the project: " + dir)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one truth
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// answerTo is the answer to a file, and all that it says.
func answerTo(t *testing.T, dir, file string) (Answer, string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	a := Judge(paste.Parse([]piece.Text{{Name: file, Bytes: text}}))
	said := a.Findings[0].Text
	for _, m := range a.Missing {
		said += "\n" + m.Command + ": " + m.Why
	}
	return a, said
}

// TestCorpus answers the public questions: how many name the true cause first, how
// many say what an expert says.
func TestCorpus(t *testing.T) {
	all := truths(t, corpus)
	right, musts, said, forbidden := 0, 0, 0, 0
	for _, q := range all {
		a, text := answerTo(t, corpus, q.File)
		first := string(a.Findings[0].Cause)
		ok := first == q.Cause || slices.Contains(q.AlsoRight, first)
		if ok {
			right++
		}
		var lacks []string
		for _, m := range q.MustSay {
			musts++
			if regexp.MustCompile("(?i)" + m).MatchString(text) {
				said++
			} else {
				lacks = append(lacks, m)
			}
		}
		for _, m := range q.MustNotSay {
			if regexp.MustCompile("(?i)" + m).MatchString(text) {
				forbidden++
				lacks = append(lacks, "NOT "+m)
			}
		}
		if !ok || len(lacks) > 0 {
			t.Logf("%s: %s, named %s %.2f; lacks %q: %.160s", q.File, q.Cause, first, a.Findings[0].Confidence, lacks, strings.ReplaceAll(a.Findings[0].Summary, "\n", " "))
		}
	}
	t.Logf("%d questions: the true cause first in %d (%.0f %%); %d of %d said that must be, %d that must not", len(all), right, 100*float64(right)/float64(len(all)), said, musts, forbidden)
}

// TestOwn answers the questions of testdata, which are our own: written from what
// tools print, without a look at the rules. Most name the true cause, none another
// one with confidence, and the same text has the same answer.
func TestOwn(t *testing.T) {
	right, all := 0, truths(t, "testdata")
	for _, q := range all {
		a, _ := answerTo(t, "testdata", q.File)
		for range 4 {
			if again, _ := answerTo(t, "testdata", q.File); Markdown(again) != Markdown(a) {
				t.Errorf("%s: two answers to one text:\n%s\n%s", q.File, Markdown(a), Markdown(again))
				break
			}
		}
		f := a.Findings[0]
		switch cause := string(f.Cause); {
		case cause == q.Cause || slices.Contains(q.AlsoRight, cause):
			right++
		case f.Confidence > 0.85:
			t.Errorf("%s: %s %.2f, truth %s: %s", q.File, cause, f.Confidence, q.Cause, f.Summary)
		}
	}
	if right < len(all)*85/100 {
		t.Errorf("%d of %d name the true cause first", right, len(all))
	}
}

// TestCorpusLess: of each public question, with any run of six lines taken out,
// another cause is never named with confidence.
func TestCorpusLess(t *testing.T) {
	wrong, tried := 0, 0
	for _, q := range truths(t, corpus) {
		text, err := os.ReadFile(filepath.Join(corpus, q.File))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		for from := 0; from < len(lines); from += 3 {
			rest := strings.Join(lines[:from], "") + strings.Join(lines[min(from+6, len(lines)):], "")
			f := Judge(paste.Parse([]piece.Text{{Name: q.File, Bytes: []byte(rest)}})).Findings[0]
			tried++
			if cause := string(f.Cause); f.Confidence > 0.8 && cause != q.Cause && !slices.Contains(q.AlsoRight, cause) {
				wrong++
				t.Logf("%s without lines %d to %d: %s %.2f, truth %s: %.120s", q.File, from+1, from+6, cause, f.Confidence, q.Cause, f.Summary)
			}
		}
	}
	t.Logf("%d of %d cut texts named another cause with confidence", wrong, tried)
	if wrong > tried/200 {
		t.Errorf("%d of %d are more than 0.5 %%", wrong, tried)
	}
}
