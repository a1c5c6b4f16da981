package joblog

import (
	"math"
	"regexp"
	"testing"

	"productform/dispatch/swf"
)

// fuzz checks that a reader of any text returns jobs with valid numbers or an error with the line,
// and that compressed texts give the same.
func fuzz(f *testing.F, seeds ...string) {
	for _, text := range seeds {
		f.Add(text)
		f.Add(text[:len(text)*2/3])
	}
	place := regexp.MustCompile(`(?s)^log(:\d+)?: .`)
	f.Fuzz(func(t *testing.T, text string) {
		jobs, r, err := readAll(text, nil)
		r.Report().Lines()
		if err != nil && !place.MatchString(err.Error()) {
			t.Fatalf("error %v", err)
		}
		for _, j := range jobs {
			for _, v := range []float64{j.Submit, j.Wait, j.RunTime, j.CPUTime, j.Memory, j.RequestedTime,
				j.RequestedMemory, j.ThinkTime} {
				if v != swf.Unknown && !(v >= 0 && v <= math.MaxFloat64) {
					t.Fatalf("number %v in %v", v, j)
				}
			}
			for _, n := range []int64{
				j.Number, j.Processors, j.RequestedProcessors, j.Status, j.User, j.Group, j.Executable,
				j.Queue, j.Partition, j.PrecedingJob,
			} {
				if n < swf.Unknown {
					t.Fatalf("number %v in %v", n, j)
				}
			}
		}
		again, _, err2 := readAll(packedZstd(text), nil)
		if (err == nil) != (err2 == nil) || len(again) != len(jobs) {
			t.Fatalf("error %v, compressed %v", err, err2)
		}
	})
}

func FuzzSacct(f *testing.F) {
	fuzz(f, "JobID|User|Submit|Start|End|Elapsed|Timelimit|AllocTRES|State|NNodes|NodeList\n"+
		"71_4|ann|2026-03-01T12:00:00|2026-03-01T12:00:05|2026-03-02T13:02:05|1-01:02:00|UNLIMITED|cpu=4,mem=16G|"+
		"CANCELLED by 1|1|n1\n"+
		"71_4.batch|||||||||1|n1\n72||2026-03-01T12:00:00|Unknown|None|00:00:00|Partition_Limit||PENDING|1|None "+
		"assigned\n",
		"JobIDRaw|TotalCPU|ElapsedRaw|TimelimitRaw|ReqTRES|ReqCPUS|\n1+0|02:03.456|7|60|cpu=2|2|\n")
}

func FuzzTable(f *testing.F) {
	fuzz(f, "id,submit,start,end,run_time,cpus,user\n1,\"2026-03-01 12:00:00.5+01:00\",5.25,7e3,"+
		"05:30,4,\"a, \"\"b\"\"\"\n",
		"; MaxProcs: 4\njob\tsubmitted\telapsed\n1\t2026-03-01T12:00Z\t1-02:03\n", "id;run_time\n1;2.5;\n")
}

func FuzzJSON(f *testing.F) {
	fuzz(f, "{\"id\": 1, \"submit\": \"2026-03-01T12:00:00\", \"run_time\": 2.5, "+
		"\"x\": [{\"}\": null}], \"us\\u0065r\": \"\\u00e9\"}\n{}\n")
}

func FuzzPBS(f *testing.F) {
	fuzz(f, "03/01/2026 12:00:00;Q;71.srv;queue=batch\n03/01/2026 13:00:00;E;71[2].srv;user=ann jobname=a b "+
		"ctime=1 start=2 end=3 "+
		"Resource_List.nodes=2:ppn=8+n1:gpu Resource_List.select=1:ncpus=4 Resource_List.walltime=100:00:00 "+
		"Exit_status=-1\n")
}
