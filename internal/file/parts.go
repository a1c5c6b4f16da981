package file

import (
	"runtime"
	"sync"
)

// rowsApiece are the rows for which another processor is worth while: some milliseconds of work.
const rowsApiece = 4096

// InParts does something for rows 0 to n-1 in parts on all processors. The error is that of the first part
// with one, and thus of the first row that is refused.
func InParts(n int, do func(from, to int) error) error {
	parts := min(runtime.GOMAXPROCS(0), n/rowsApiece)
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
