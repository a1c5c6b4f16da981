//go:build unix

package processes_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"productform/live/internal/processes"
)

// A folder has one owner at a time, and can be locked again after its release.
func TestTry(t *testing.T) {
	folder := t.TempDir()
	release, err := processes.Try(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := processes.Try(folder); !errors.Is(err, processes.ErrTaken) {
		t.Error(err)
	}
	release()
	again, err := processes.Try(folder)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := processes.Try(folder + "/nowhere"); err == nil || errors.Is(err, processes.ErrTaken) {
		t.Error(err)
	}
}

// Only one of several waiting goroutines has the folder at a time.
func TestWait(t *testing.T) {
	folder := t.TempDir()
	var all sync.WaitGroup
	inside := make(chan bool, 1)
	for range 20 {
		all.Go(func() {
			release, err := processes.Wait(folder)
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			select {
			case inside <- true:
			default:
				t.Error("two goroutines have the lock")
				return
			}
			time.Sleep(time.Millisecond)
			<-inside
		})
	}
	all.Wait()
}
