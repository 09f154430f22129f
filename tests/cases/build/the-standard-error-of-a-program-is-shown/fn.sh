sed 's/name: b/name: a/'
echo 'a is what b was' >&2
