#!/bin/sh
# Eight processes on this machine, each of which does one of eight parts of the runs; then the answer.
set -e
simulate="pfq simulate model.yaml --policy fcfs --sizes lognormal:4 --runs 64 --jumps 5000 --results runs"
for k in 0 1 2 3 4 5 6 7; do
	$simulate --parallel 1 --part "$k/8" &
done
wait
$simulate "$@"
