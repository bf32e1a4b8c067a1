read -r hello
echo '{"linpoint": 1, "init": 0}'
read -r question
kill -9 $$
