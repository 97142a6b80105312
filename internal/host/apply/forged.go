package apply

import (
	"fmt"

	"github.com/linerate/linerate/internal/statefile"
)

// ErrForged is a journal file that somebody else may have written: a link, one
// of another user's, one that others may write. What is in a journal is done as
// root, so it is not believed.
var ErrForged = statefile.ErrUntrusted

// believedIn is nil for a journal's directory that root and its owner alone may
// write: whoever else may can put an entry in another's place.
func (j *Journal) believedIn() error {
	if err := statefile.CheckDir(j.dir); err != nil {
		return fmt.Errorf("journal directory: %w", err)
	}
	return nil
}
