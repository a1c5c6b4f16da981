package swf

import "io"

// A Log is all that a log holds.
type Log struct {
	Header []string // the comments, in order, without the ends of lines
	Jobs   []Job
}

// ReadAll reads the log in r, as [Reader] does, with the same errors. It takes 144 bytes a job, and over twice
// that while it reads.
func ReadAll(r io.Reader, name string) (Log, error) {
	var jobs []Job
	log := NewReader(r, name)
	for job, err := range log.All() {
		if err != nil {
			return Log{}, err
		}
		jobs = append(jobs, job)
	}
	return Log{log.Header(), jobs}, nil
}
