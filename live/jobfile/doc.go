// Package jobfile reads what users write for the live system: files of jobs, in JSON or YAML.
//
//	{"jobs": [{"name": "bills", "priority": 5, "deadline": "200s", "max_workers": 8,
//	           "tasks": 1000, "work": 0.5, "run": {"kind": "command", "program": "bill"}}]}
//
// The jobs of a file are submitted together, at one moment. Unknown fields are errors, which name file, line and field.
package jobfile
