package console

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// Asker puts questions to the person at the terminal. One reads the terminal
// for all questions of a command: what is typed ahead is the next one's answer.
type Asker struct {
	con     *Console
	answers chan string // nil until the first question
}

// Asker is for the questions of one command.
func (con *Console) Asker() *Asker { return &Asker{con: con} }

// Ask returns whether the answer is yes; no answer any more is no. The end of
// ctx ends the question with its error.
func (q *Asker) Ask(ctx context.Context, question string) (bool, error) {
	q.begin()
	fmt.Fprintf(q.con.Stderr, "%s [y/N] ", question)
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case answer := <-q.answers:
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}

// typedAhead is how long what was typed before a question takes to be read.
const typedAhead = 100 * time.Millisecond

// AskNow is Ask of what only somebody who sees the question can know: what was typed
// before is no answer to it.
func (q *Asker) AskNow(ctx context.Context, question string) (bool, error) {
	q.begin()
	for waiting := true; waiting; {
		select {
		case <-ctx.Done(): // somebody may lean on the key
			return false, ctx.Err()
		case _, waiting = <-q.answers:
		case <-time.After(typedAhead):
			waiting = false
		}
	}
	return q.Ask(ctx, question)
}

// begin reads the terminal from now on.
func (q *Asker) begin() {
	if q.answers == nil {
		q.answers = make(chan string)
		go q.read()
	}
}

// read ends with the program: nothing can end a read of a terminal.
func (q *Asker) read() {
	in := bufio.NewScanner(q.con.Stdin)
	for in.Scan() {
		q.answers <- in.Text()
	}
	close(q.answers)
}

// Approver asks before each step, or approves all. An interrupt ends the
// question.
func (con *Console) Approver(ctx context.Context, yes bool) func(record.Step, []plan.Plan) (bool, error) {
	if yes {
		return nil
	}
	q := con.Asker()
	return func(s record.Step, plans []plan.Plan) (bool, error) {
		fmt.Fprintf(con.Stderr, "\n%s\n", s.Change)
		question := "make this change?"
		for _, p := range plans {
			fmt.Fprintln(con.Stderr, p.Text(con.Width()))
			if p.Worst() != plan.Online {
				question = fmt.Sprintf("it stops traffic on %s for seconds (%s): make this change?", p.Host, p.Worst())
			}
		}
		return q.Ask(ctx, question)
	}
}
