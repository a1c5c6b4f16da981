package book

// JobName returns the name of the job with a number, "" if there is none; WorkerName that of a worker.
func (b *Book) JobName(number int) string {
	if j := b.job(number); j != nil {
		return j.Job.Name
	}
	return ""
}

func (b *Book) WorkerName(number int) string {
	if number < 0 || number >= len(b.workers) {
		return ""
	}
	return b.workers[number].Name
}
