// Package audit says what people can hold against an allocation of divisible resources. [Audit] looks for jobs that get
// less than their part, envy others or could run more, with witnesses; [Indices] says how efficient and how even an
// allocation is; [BestLie] what a job gains by declaring demands that it does not have. Models, policies and letters are
// those of package fluid.
package audit
