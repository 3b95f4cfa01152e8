/** The variable by which whatever a gateway started, at any depth, is known to be its own. */
export const OWNER_VARIABLE = 'WEIR_OWNER';

/** Hex digits of a mark. The guard looks for no other length: an empty one would match the servers of every gateway. */
export const MARK_LENGTH = 32;

/**
 * What the guard runs: plain sh (dash, bash, busybox), because a second Node would double the gateway's memory.
 * The text is constant; groups, mark and grace reach it as lines on stdin, and the end of stdin is its cue.
 */
export const GUARD_PROGRAM: string = `# weir-guard: stops a gateway's servers when the gateway is gone
trap '' HUP INT QUIT TERM PIPE
groups= asked= mark= scan=proc ticks=20 released=

watch() { # GROUP
  case $1 in '' | 0* | 1 | *[!0-9]*) return 1 ;; esac
  case " $groups " in *" $1 "*) ;; *) groups="$groups $1" ;; esac
}
unwatch() { # GROUP
  kept=
  for group in $groups; do [ "$group" = "$1" ] || kept="$kept $group"; done
  groups=$kept
}
signal() { # SIGNAL to all groups; an empty one is forgotten, since its number may soon be another's
  kept=
  for group in $groups; do
    case "$1 $asked " in TERM*" $group "*) name=0 ;; *) name=$1 ;; esac # a second TERM would cut an orderly end short
    kill "-$name" "-$group" && kept="$kept $group"
  done
  groups=$kept
}
forget_the_dead() { # all groups, if nobody in them runs: where nobody buries the dead, kill finds them for ever
  [ "$scan" = proc ] && [ -n "$groups" ] || return 0
  running=$(IFS=' ' && set -- $groups && IFS='|' && grep -lsE "^$$ |[)] [^ZX] [0-9]+ ($*) " /proc/[0-9]*/stat)
  # Its own line proves that the search has worked.
  [ "$running" != "/proc/$$/stat" ] || groups=
}
search() { # SIGNAL to the groups not known so far that hold a marked process
  [ "\${#mark}" -eq ${MARK_LENGTH} ] || return 0
  for found in $(marked_groups); do
    case " $groups $home " in *" $found "*) continue ;; esac
    watch "$found" && { kill "-$1" "-$found" || unwatch "$found"; }
    asked="$asked $found"
  done
}
marked_groups() {
  case $scan in
    ps) ps -axww -E -o pgid=,command= | while read -r group rest; do has_mark "$rest" && echo "$group"; done ;;
    *) for pid in $(marked_processes); do group_of "$pid"; done ;;
  esac
}
marked_processes() {
  if printf 'a\\000b\\n' | grep -q b; then # else this grep stops at the first NUL
    paths=$(echo "${OWNER_VARIABLE}=$mark" | grep -ls -f - /proc/[0-9]*/environ)
    [ $? -le 2 ] && for path in $paths; do path=\${path#/proc/} && echo "\${path%/environ}"; done && return
  fi
  for path in /proc/[0-9]*; do # slower, but needs neither grep nor a long argument list
    has_mark "$(tr '\\000' ' ' <"$path/environ")" && echo "\${path#/proc/}"
  done
}
has_mark() { case $1 in *"${OWNER_VARIABLE}=$mark"*) ;; *) return 1 ;; esac; }
group_of() { # PID; a program's name may hold blanks, brackets and line ends, what follows its last bracket may not
  stat=
  while read -r line; do stat=$line; done <"/proc/$1/stat"
  set -- \${stat##*') '}
  echo "$3"
}
nap() { sleep 0.1 || { sleep 1 && ticks=$((ticks - 9)); }; }

home=$(group_of "$PPID") # whatever happens, the gateway's own group, and with it a terminal's job, is left alone
while read -r verb word; do
  case $verb in
    +) watch "$word" ;;
    -) unwatch "$word" ;;
    mark) mark=$word ;;
    scan) scan=$word ;;
    sweep) search TERM ;;
    release) ticks=$word released=yes ;;
  esac
done

signal TERM
search TERM
if [ -z "$groups$released" ]; then # the gateway may have died between the fork and the exec of a server
  nap
  search TERM
fi
while [ -n "$groups" ] && [ "$ticks" -gt 0 ]; do
  nap
  ticks=$((ticks - 1))
  signal 0
  forget_the_dead
  [ -n "$groups" ] || search TERM
done
rounds=10
while [ -n "$groups" ] && [ "$rounds" -gt 0 ]; do
  rounds=$((rounds - 1))
  signal KILL
  search KILL
  [ -z "$groups" ] || nap
  forget_the_dead
done
`;
