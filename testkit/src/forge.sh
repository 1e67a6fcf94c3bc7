#!/bin/sh
# A forge in a folder, in the place of `gh` and `glab`: what it is told it keeps, and it answers from that. JSON is never taken
# apart: of members that are there twice the last one counts.
me=${0##*/}
here=${0%/*}/../forge
method=GET path= input= host=
if [ "$1" != api ]; then
    echo "unknown command \"$1\"" >&2
    exit 1
fi
shift
while [ $# -gt 0 ]; do
    case $1 in
    --method) method=$2; shift 2 ;;
    --hostname) host=$2; shift 2 ;;
    --header) shift 2 ;;
    --input) input=$2; shift 2 ;;
    --paginate) shift ;;
    *) path=$1; shift ;;
    esac
done
body=
[ "$input" = - ] && body=$(cat)
number=$(ls "$here/calls" | wc -l)
call=$here/calls/$(printf %04d "$number")
printf '%s %s %s %s\n%s\n' "$me" "$host" "$method" "$path" "$body" >"$call"

# What is to go wrong: METHOD|GLOB|HOW, a line each; those of `once` only for one call.
how=
for list in always once; do
    while IFS='|' read -r of glob what; do
        case $method in
        $of) case $path in $glob) how=$what; [ $list = once ] && : >"$here/once.new" ;; esac ;;
        esac
    done <"$here/$list"
done
[ -e "$here/once.new" ] && mv "$here/once.new" "$here/once"

fails() {
    printf '%s' "$2"
    echo "$me: $1" >&2
    exit 1
}
case $how in
4) echo "To get started with GitHub CLI, please run:  gh auth login" >&2; exit 4 ;;
offline) echo "error connecting to api.$host" >&2; exit 1 ;;
rate) fails "API rate limit exceeded (HTTP 403)" '{"message":"API rate limit exceeded"}' ;;
garbage) echo "<html>"; exit 0 ;;
empty) echo "[]"; exit 0 ;;
[45]??) fails "no (HTTP $how)" "{\"message\":\"said $how\"}" ;;
esac

# A forge has done something or has not, also where whoever asked is killed, and says so where it has not.
at_once() { cat >"$here/new.$$" && mv "$here/new.$$" "$1" || broken; }
broken() { fails "Internal Server Error (HTTP 500)" '{"message":"Internal Server Error"}'; }
name_of() { printf '%s' "$body" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
without_braces() { printf '%s' "$body" | sed 's/^{//; s/}$//'; }
shown() {
    state=$(cat "$here/requests/$1.state")
    labels=$(cat "$here/requests/$1.labels" 2>/dev/null)
    printf '{%s,"labels":[%s]' "$(cat "$here/requests/$1")" "$labels"
    if [ "$me" = gh ]; then
        merged=null
        [ "$state" = merged ] && { state=closed merged='"2026-01-05T09:12:44Z"'; }
        printf ',"number":%s,"html_url":"https://%s/o/r/pull/%s","node_id":"PR_%s","state":"%s","merged_at":%s,"head":{"sha":""}}' \
            "$1" "$host" "$1" "$1" "$state" "$merged"
    else
        [ "$state" = open ] && state=opened
        printf ',"iid":%s,"web_url":"https://%s/o/r/-/merge_requests/%s","state":"%s","sha":"","source_project_id":1,"target_project_id":1}' \
            "$1" "$host" "$1" "$state"
    fi
}
all() {
    printf '['
    comma=
    for one in $(ls "$here/requests" | grep -v '\.' | sort -n); do
        printf '%s' "$comma"
        shown "$one"
        comma=,
    done
    printf ']'
}
create() {
    for one in $(ls "$here/requests" | grep -v '\.'); do
        if [ "$(cat "$here/requests/$one.state")" = open ]; then
            if [ "$me" = gh ]; then
                fails "Validation Failed (HTTP 422)" '{"message":"Validation Failed","errors":[{"message":"A pull request already exists for o:b."}]}'
            fi
            fails "409 Conflict (HTTP 409)" '{"message":["Another open merge request already exists for this source branch: !1"]}'
        fi
    done
    new=$(($(ls "$here/requests" | grep -vc '\.') + 1))
    echo open >"$here/requests/$new.state" || broken
    without_braces | at_once "$here/requests/$new" || exit 1
    shown "$new"
}
change() {
    { cat "$here/requests/$1"; printf ',%s' "$(without_braces)"; } | at_once "$here/requests/$1" || exit 1
    added=$(name_of add_labels)
    [ -z "$added" ] || printf '"%s"' "$added" | sed 's/,/","/g' | at_once "$here/requests/$1.labels" || exit 1
    shown "$1"
}
kept() { cat "$here/$1.json" 2>/dev/null || echo '[]'; }

of=${path%%\?*}
of=${of#repos/o/r/}
of=${of#projects/o%2Fr/}
case "$method $of" in
"GET pulls" | "GET merge_requests") all ;;
"POST pulls" | "POST merge_requests") create ;;
"GET pulls/"*"/comments") kept comments ;;
"GET pulls/"*"/reviews") kept reviews ;;
"GET issues/"*"/comments") kept talk ;;
"GET commits/"*"/check-runs") kept checks ;;
"GET commits/"*"/status") kept statuses ;;
"GET merge_requests/"*"/discussions") kept discussions ;;
"GET merge_requests/"*"/pipelines") kept pipelines ;;
"GET pipelines/"*"/jobs") kept jobs ;;
"GET members/all") kept members ;;
"GET users") echo '[{"id":7}]' ;;
"GET pulls/"* | "GET merge_requests/"*) shown "${of#*/}" ;;
"POST "*"/requested_reviewers") echo '{}' ;;
"POST issues/"*"/labels")
    one=${of#issues/}
    printf '%s' "$body" | sed 's/.*\[//; s/\].*//' | at_once "$here/requests/${one%/labels}.labels" || exit 1
    echo '[]'
    ;;
"POST "*"/comments" | "POST "*"/replies" | "POST "*"/notes") echo '{"id":1}' ;;
"POST graphql")
    one=$(printf '%s' "$body" | sed -n 's/.*"PR_\([0-9]*\)".*/\1/p')
    draft=false
    case $body in *convertPullRequestToDraft*) draft=true ;; esac
    { cat "$here/requests/$one"; printf ',"draft":%s' "$draft"; } | at_once "$here/requests/$one" || exit 1
    echo '{"data":{}}'
    ;;
"PATCH pulls/"*) change "${of#*/}" ;;
"PUT merge_requests/"*) change "${of#*/}" ;;
*) fails "Not Found (HTTP 404)" '{"message":"Not Found"}' ;;
esac
if [ "$how" = lost ]; then
    echo "error connecting to api.$host" >&2
    exit 1
fi
