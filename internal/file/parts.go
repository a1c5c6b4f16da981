package file

import (
	"runtime"
	"sync"
)

// minRowsPerPart is the number of rows that justify another processor: a few milliseconds of work.
const minRowsPerPart = 4096

// InParts calls do for rows 0 to n-1 in parts, on all processors. The error comes from the first
// failed part, and thus from the first rejected row.
func InParts(n int, do func(from, to int) error) error {
	parts := min(runtime.GOMAXPROCS(0), n/minRowsPerPart)
	if parts <= 1 {
		return do(0, n)
	}
	errs := make([]error, parts)
	var wait sync.WaitGroup
	for p := range parts {
		wait.Go(func() { errs[p] = do(p*n/parts, (p+1)*n/parts) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
