# The same model as sink.sh, which does not describe its state.
read -r hello
echo '{"linpoint": 1, "init": 0}'
while read -r question; do
    id=${question#*:}
    id=${id%%,*}
    steps=
    while case $question in *'"state"'*) true ;; *) false ;; esac; do
        question=${question#*'"state"'}
        steps="$steps,[[null,0]]"
    done
    echo "{\"id\": $id, \"steps\": [${steps#,}]}"
done
