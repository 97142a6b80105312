package natsagent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
)

// DefaultAudit is where changes asked for over the bus are written down.
const DefaultAudit = "/var/log/linerate/audit.log"

// audit is a file of JSON lines that is only ever added to. Each line is on the
// disk before write returns.
type audit struct {
	file, host string
	mu         sync.Mutex
}

// entry is one line: that a change begins, or how it ended.
type entry struct {
	Time         time.Time           `json:"time"`
	Host         string              `json:"host"`
	User         string              `json:"user"`          // by the claim, which the fleet's authority signed
	Key          string              `json:"key,omitempty"` // public, of the user
	Conversation string              `json:"conversation"`
	Method       agentapi.MethodName `json:"method"`
	Stage        string              `json:"stage"`         // "begin" or "end"
	Why          string              `json:"why,omitempty"` // where the user did not ask
	Journal      string              `json:"journal,omitempty"`
	Group        string              `json:"group,omitempty"`
	Check        bool                `json:"check,omitempty"` // nothing was to change
	Steps        []string            `json:"steps,omitempty"`
	Request      string              `json:"request_sha256"`
	// Signed is what the user's key has signed, behind a byte of 0xff, and Signature
	// that signature (base64 as of URLs, without padding): whoever has the key
	// can verify that the user asked for it.
	Signed    string `json:"signed,omitempty"`
	Signature string `json:"signature,omitempty"`
	Result    string `json:"result,omitempty"`
}

// longestResult bounds the words of an outcome.
const longestResult = 500

// asking adds what is asked for.
func (e entry) asking(params json.RawMessage) entry {
	sum := sha256.Sum256(params)
	e.Request = hex.EncodeToString(sum[:])
	var req struct {
		agentapi.ApplyRequest
		Journal string `json:"journal"` // of a confirmation or a rollback, whose other keys are ApplyRequest's
	}
	if json.Unmarshal(params, &req) != nil {
		return e
	}
	e.Journal, e.Group, e.Check = req.Journal, req.Group, req.Check
	if e.Method == agentapi.Apply.Name {
		for _, step := range req.Plan.Steps {
			e.Steps = append(e.Steps, step.Command())
		}
	}
	return e
}

func (e entry) begun() entry {
	e.Stage = "begin"
	return e
}

// ended is the line of the outcome.
func (e entry) ended(result json.RawMessage, err error) entry {
	e.Stage, e.Steps, e.Signed, e.Signature, e.Result = "end", nil, "", "", "done"
	var reply agentapi.ApplyReply // RollbackReply's journal has the same key
	if err == nil && json.Unmarshal(result, &reply) == nil {
		if reply.Journal != "" {
			e.Journal = reply.Journal
		}
		if reply.RolledBack != "" {
			e.Result = "rolled back: " + reply.RolledBack
		}
	}
	if err != nil {
		e.Result = "failed: " + err.Error()
	}
	if len(e.Result) > longestResult {
		e.Result = e.Result[:longestResult] + "..."
	}
	return e
}

// errAudit is a log that is not ours alone to write.
var errAudit = errors.New("not a file of its owner alone, mode 0600")

func (a *audit) write(e entry) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.Time, e.Host = time.Now().UTC(), a.host
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.file), 0o700); err != nil {
		return err
	}
	// A link would lead the lines somewhere else. Opened anew each time: a log that
	// was moved away goes on under its name.
	f, err := statefile.Open(a.file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if errors.Is(err, statefile.ErrUntrusted) {
		return fmt.Errorf("%w: %w", errAudit, err)
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: %w", a.file, errAudit)
	}
	if err == nil {
		_, err = f.Write(append(afterPart(f, info.Size()), append(line, '\n')...))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// afterPart is the end of a line of which a full disk or a power cut left a part, so that
// the next one can be read; none where the last is whole.
func afterPart(f io.ReaderAt, size int64) []byte {
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); size == 0 || err != nil || last[0] == '\n' {
		return nil
	}
	return []byte{'\n'}
}
