package book

// JobName returns the name of the job with a number of the plans, "" if none has it now.
func (b *Book) JobName(number int) string {
	if j := b.job(number); j != nil {
		return j.Job.Name
	}
	return ""
}

// WorkerName returns the name of the worker that has a number of the plans now, "" if there is none.
func (b *Book) WorkerName(number int) string {
	if number < 0 || number >= len(b.workers) {
		return ""
	}
	return b.workers[number].Name
}
