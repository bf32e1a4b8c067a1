module linpoint

go 1.18
