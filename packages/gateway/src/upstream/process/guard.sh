#!/bin/sh
# weir-guard: stops a gateway's servers when the gateway is gone
# Lists of numbers are split into words on purpose (SC2046, SC2086), and `-f -` takes the pattern from stdin (SC2062).
# shellcheck disable=SC2046,SC2062,SC2086
trap '' HUP INT QUIT TERM PIPE
groups='' strays=' ' loose='' asked='' mark='' scan=proc grace=20 released='' unseen=''
line_end='
'

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
search() { # SIGNAL to what has left the watched groups
  note
  ask "$1"
}
ask() { # SIGNAL to the groups of the strays found last
  for found in $loose; do
    watch "$found" && { kill "-$1" "-$found" || unwatch "$found"; }
    asked="$asked $found"
  done
}
note() { # finds the strays (PID:BORN) outside the watched groups, and their groups: descendants, and what is marked
  # Out of reach stays a daemon that has shed environment and session, and whose parent ended before this look.
  ours=" $groups " noted=' ' left=' ' loose='' more=yes
  for pid in $(marked_processes); do case " 1 $PPID " in *" $pid "*) ;; *) ours="$ours$pid " ;; esac; done
  case $ours$strays in *[0-9]*) ;; *) return ;; esac
  table=$(processes)
  while [ -n "$more" ]; do
    more='' IFS=$line_end
    for line in $table; do
      IFS=' '
      trace $line
    done
  done
  IFS=" $line_end" strays=$left
}
trace() { # PID PARENT GROUP SESSION BORN STATE; a child of ours is ours, and so is all that is in a group or session which one of ours made
  case $ours in
    *" $1 "* | *" $2 "* | *" $3 "* | *" $4 "*) ;;
    *) case $strays in *" $1:$5 "*) ;; *) return ;; esac ;; # a known one, no later owner of its number
  esac
  case " 1 $$ $PPID$noted" in *" $1 "*) return ;; esac
  [ $# -eq 6 ] && [ "$3" != "$home" ] && [ "$4" != "$seat" ] || return
  ours="$ours$1 " noted="$noted$1 " more=yes
  case "$6 $groups " in [ZX]* | *" $3 "*) return ;; esac # the dead can have living children, but need no signal
  left="$left$1:$5 "
  case "$loose " in *" $3 "*) ;; *) loose="$loose $3" ;; esac
}
processes() { # all there are, a line each, as trace takes them
  IFS=$line_end
  case $scan in
    ps) from_ps $(ps -axo pid=,ppid=,pgid=,state=,lstart=) ;;
    *) from_proc $(grep -osE '[)] [A-Za-z]( -?[0-9]+){19}' /proc/[0-9]*/stat) ;; # longer than any program's name
  esac
}
from_ps() { # LINE... without a session, of which ps tells nothing that could be compared
  IFS=' '
  for line; do set -- $line && echo "$1 $2 $3 - $5$6$7$8$9 $4"; done
}
from_proc() { # LINE...
  IFS=' '
  case "$*" in
    *"/proc/$$/stat:"*) # its own line proves that grep has worked
      for line; do set -- $line && pid=${1#/proc/} && echo "${pid%/*} $3 $4 $5 ${21} $2"; done
      ;;
    *) for path in /proc/[0-9]*; do stat_of "${path#/proc/}" && set -- $stat && echo "${path#/proc/} $2 $3 $4 ${20} $1"; done ;;
  esac
}
marked_processes() {
  [ "${#mark}" -eq 32 ] || return 0
  case $scan in
    ps) ps -axww -E -o pid=,command= | while read -r pid rest; do has_mark "$rest" && echo "$pid"; done ;;
    *) marked_in_proc ;;
  esac
}
marked_in_proc() {
  if printf 'a\000b\n' | grep -q b; then # else this grep stops at the first NUL
    paths=$(echo "WEIR_OWNER=$mark" | grep -ls -f - /proc/[0-9]*/environ)
    [ $? -le 2 ] && for path in $paths; do path=${path#/proc/} && echo "${path%/environ}"; done && return
  fi
  for path in /proc/[0-9]*; do # slower, but needs neither grep nor a long argument list
    has_mark "$(tr '\000' ' ' <"$path/environ")" && echo "${path#/proc/}"
  done
}
has_mark() { case $1 in *"WEIR_OWNER=$mark"*) ;; *) return 1 ;; esac; }
stat_of() { # PID; a program's name may hold blanks, brackets and line ends, what follows its last bracket may not
  stat=
  while read -r line; do stat=$line; done <"/proc/$1/stat"
  stat=${stat##*') '}
}
nap() { sleep 0.1 || sleep 1; }
clock() { # sets now, in tenths of a second: on a busy machine the naps of two seconds take four
  if [ "$scan" = proc ] && read -r now rest </proc/uptime; then
    rest=${now#*.}
    now=$((${now%.*} * 10 + ${rest%"${rest#?}"}))
  else
    now=$(($(date +%s) * 10))
  fi
}

stat_of "$PPID" && set -- $stat
home=$3 seat=$4 # whatever happens, the gateway's own group and session, and with them a terminal's jobs, are left alone
while read -r verb word; do
  case $verb in
    +) watch "$word" ;;
    -) unwatch "$word" ;;
    mark) mark=$word ;;
    scan) scan=$word && set -- $(ps -o pgid= -p "$PPID") && home=$1 ;;
    look) note ;;
    note) note; echo noted ;;
    sweep) search TERM ;;
    release) grace=$word released=yes ;;
  esac
done

clock
last=$((now + grace))
[ -n "$released" ] || signal STOP # who ends orphans its children: as few as possible shall, before those are found
if [ "$now" -lt "$last" ]; then
  note
  signal TERM
  [ -n "$released" ] || signal CONT
  ask TERM
else # those that are known have been asked before; whoever else there is comes to light when they are dead
  unseen=yes
fi
if [ -z "$groups$released" ]; then # the gateway may have died between the fork and the exec of a server
  nap
  search TERM
fi
while [ -n "$groups" ] && [ "$now" -lt "$last" ]; do
  nap
  signal 0
  forget_the_dead
  [ -n "$groups" ] || search TERM
  clock
done
rounds=10
while [ -n "$groups$loose$unseen" ] && [ "$rounds" -gt 0 ]; do
  rounds=$((rounds - 1)) unseen=
  signal KILL
  ask KILL
  [ -z "$groups" ] || nap
  forget_the_dead
  note
done
