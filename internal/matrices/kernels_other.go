//go:build !amd64

package matrices

func fastest() MultiplyAdd { return multiplyAdd }
