package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// asker puts questions to the person at the terminal. One reads the terminal
// for all questions of a command: what is typed ahead is the next one's answer.
type asker struct {
	app     *App
	answers chan string // nil until the first question
}

// ask returns whether the answer is yes; no answer any more is no. The end of
// ctx ends the question with its error.
func (q *asker) ask(ctx context.Context, question string) (bool, error) {
	if q.answers == nil {
		q.answers = make(chan string)
		go q.read()
	}
	fmt.Fprintf(q.app.Stderr, "%s [y/N] ", question)
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case answer := <-q.answers:
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}

// read ends with the program: nothing can end a read of a terminal.
func (q *asker) read() {
	in := bufio.NewScanner(q.app.Stdin)
	for in.Scan() {
		q.answers <- in.Text()
	}
	close(q.answers)
}
