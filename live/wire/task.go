package wire

// A Task is a task of a job as the handler of its kind in a worker receives it.
type Task struct {
	Worker  string  // the slot that runs it
	Job     string  // name of the job
	Number  int     // number of the task in its job, from 0
	Attempt int     // from 1, unique in the cluster; the same task may run again, even at the same time elsewhere
	Work    float64 // as declared by the job, in seconds on a worker of speed 1
	Speed   float64 // speed of the worker
	Run     Run     // as declared by the job
	Folder  string  // private to this attempt; contains the inputs and is removed after the task
}
