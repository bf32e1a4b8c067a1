read -r hello
echo '{"linpoint": 1, "init": 0}'
read -r question
echo 'thinking' >&2
sleep 60
