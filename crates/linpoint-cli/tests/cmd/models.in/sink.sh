# A model of an object with one state, in which every call answers null.
read -r hello
echo '{"linpoint": 1, "init": 0, "methods": ["put", "get"], "answers": ["describe"], "calls": [["put", 1], ["get", null]]}'
while read -r question; do
    id=${question#*:}
    id=${id%%,*}
    steps=
    while case $question in *'"state"'*) true ;; *) false ;; esac; do
        question=${question#*'"state"'}
        steps="$steps,[[null,0]]"
    done
    case $steps in
    '') echo "{\"id\": $id, \"describe\": [\"empty, as ever\"]}" ;;
    *) echo "{\"id\": $id, \"steps\": [${steps#,}]}" ;;
    esac
done
