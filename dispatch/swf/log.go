package swf

import "io"

// A Log is the contents of a log file.
type Log struct {
	Header []string // the comments, in order, without line ends
	Jobs   []Job
}

// ReadAll reads the log in r as [Reader] does, with the same errors. It takes 144 bytes per job,
// and more than twice that while reading.
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
