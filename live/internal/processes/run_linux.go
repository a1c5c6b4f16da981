package processes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// KillLeft kills the remaining processes of groups whose marks are in folder, removes the marks,
// and returns the number of killed processes. No other process may use the folder at the same time.
// It returns an error if a process does not end within 5 s.
func KillLeft(folder string) (killed int, err error) {
	words, err := marks(folder)
	if err != nil || len(words) == 0 {
		return 0, err
	}
	seen := map[int]bool{}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		left, err := withMark(words)
		if err != nil {
			return len(seen), err
		}
		if len(left) == 0 { // no process was started while the list was read
			break
		}
		if time.Since(begun) > 5*time.Second {
			return len(seen), fmt.Errorf("%s: processes %v were killed and do not end", folder, left)
		}
		for _, pid := range left {
			seen[pid] = true
			if group, err := syscall.Getpgid(pid); err == nil && group != syscall.Getpgrp() {
				kill(group)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
		}
	}
	for _, word := range words {
		err = errors.Join(err, os.Remove(filepath.Join(folder, word+suffix)))
	}
	return len(seen), err
}

// withMark returns the processes with one of the marks.
func withMark(words []string) (pids []int, err error) {
	list, err := os.ReadDir("/proc")
	for _, f := range list {
		if pid, err := strconv.Atoi(f.Name()); err == nil && hasMark(pid, words) {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// hasMark reports whether a running process has one of the marks in its environment. Environments
// of other users cannot be read, and ended processes have none.
func hasMark(pid int, words []string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for _, word := range words {
		if bytes.Contains(environment, []byte(mark+"="+word)) {
			return true
		}
	}
	return false
}
