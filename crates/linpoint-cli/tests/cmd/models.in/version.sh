echo '{"linpoint": 2, "init": 0}'
