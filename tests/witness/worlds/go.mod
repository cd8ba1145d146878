module policylint.witness/worlds

go 1.26.0
