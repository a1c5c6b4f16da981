//go:build !amd64

package cube

func fastest() kernels { return inGo() }
