package predict

import (
	"github.com/linerate/linerate/internal/cmd/console"
)

var Headings = []console.FlagHeading{
	{Title: "What to predict", Flags: "streams directions ports socket-buffer together limits"},
	{Title: "From what", Flags: "live calibrate calibrate-streams clouds show-clouds"},
	{Title: "What to compare", Flags: "what-if buy from to"},
	{Title: "The model itself", Flags: "validate format"},
}
