read -r hello
echo '{"linpoint": 1, "init": 0}'
read -r question
echo 'model: I do not know "put"' >&2
exit 3
