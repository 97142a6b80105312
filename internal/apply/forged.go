package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrForged is a journal file that somebody else may have written. What is in
// a journal is done as root, so it is not believed.
var ErrForged = errors.New("not believed: others than root and its owner may write it")

// believed is nil for a file or directory that belongs to root or to who runs
// this, and that nobody else may write.
func believed(info fs.FileInfo) error {
	uid, _ := ownerOf(info)
	if uid != 0 && uid != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w (user %d, mode %v)", ErrForged, uid, info.Mode().Perm())
	}
	return nil
}

// believedIn is believed of the journal's directory: whoever may write there
// may put an entry in another's place.
func (j *Journal) believedIn() error {
	info, err := os.Stat(j.dir)
	if err != nil {
		return err
	}
	if err := believed(info); err != nil {
		return fmt.Errorf("journal directory %s: %w", j.dir, err)
	}
	return nil
}
