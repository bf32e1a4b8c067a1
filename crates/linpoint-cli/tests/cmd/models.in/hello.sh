echo '{"linpoint": 1, "init": 0, "method": ["put"]}'
