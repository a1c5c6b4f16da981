module productform/live

go 1.26.0

require productform v0.0.0

replace productform => ../
