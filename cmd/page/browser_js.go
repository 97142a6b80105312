// Command page, in a browser, is what the page asks for answers: an object of the page
// named linerate, whose functions take a text and return a JSON document.
package main

import (
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/linerate/linerate/internal/page/answer"
)

func main() {
	js.Global().Set("linerate", js.ValueOf(map[string]any{
		"choices": function(func(string) any { return answer.Offered() }),
		"explain": function(func(text string) any { return answer.Explain(text) }),
		"predict": function(func(text string) any { return answer.Predict(text) }),
		"steer": function(func(text string) any {
			var q answer.SteerRequest
			if err := json.Unmarshal([]byte(text), &q); err != nil {
				return answer.Steered{Error: "the form: " + err.Error()}
			}
			return answer.Steer(q)
		}),
	}))
	select {} // the page calls as long as it is open
}

// function is a function of the page. A fault of the program is an answer's error: the
// page goes on.
func function(answers func(text string) any) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (out any) {
		defer func() {
			if fault := recover(); fault != nil {
				out = document(map[string]string{"error": fmt.Sprint("this is a fault of linerate, please report it: ", fault)})
			}
		}()
		return document(answers(args[0].String()))
	})
}

func document(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return `{"error":"this is a fault of linerate: an answer cannot be written"}`
	}
	return string(b)
}
