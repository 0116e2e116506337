#!/bin/sh
# rank: one worker of a job, as far as telemetry can see it.
#
#   rank [N=SCHEDULE]... SCHEDULE      e.g.  srun rank 3=busy:20,die busy:20,stuck
#
# A schedule is steps with commas between. A step is an activity, with seconds or for good, or an end:
#   busy  light  idle  stuck  none     see exporter.py; `none` lives and never touches its GPUs
#   die    killed at once, no clean-up       exit   ends well        fail   ends with 1
# N=SCHEDULE is for the worker with that SLURM_PROCID only. After its last step a worker ends well.
#
# It says what it does in $FAIRLEAD_LAB/gpu/NODE/INDEX, one file for each of its GPUs, with its pid and the start
# of that process, so that a dead worker is told from a living one. It sleeps; it burns nothing.

node=${SLURMD_NODENAME:-n001}
worker=${SLURM_PROCID:-0}
gpus=${CUDA_VISIBLE_DEVICES:-${SLURM_STEP_GPUS:-${SLURM_JOB_GPUS:-}}}
where=$FAIRLEAD_LAB/gpu/$node

read -r stat < /proc/$$/stat
set_started() { shift 19; started=$1; }
set_started ${stat##*) }

say() { # activity
  for gpu in $(echo "$gpus" | tr , ' '); do
    printf '{"activity": "%s", "pid": %d, "started": %d, "job": %d}\n' "$1" $$ "$started" "${SLURM_JOB_ID:-0}" > "$where/.$gpu.$$"
    mv -f "$where/.$gpu.$$" "$where/$gpu"
  done
}

leave() {
  for gpu in $(echo "$gpus" | tr , ' '); do
    grep -qs "\"pid\": $$," "$where/$gpu" && rm -f "$where/$gpu"
  done
}

rest() { # seconds
  sleep "$1" &
  wait $!
}

follow() {
  for step in $(echo "$1" | tr , ' '); do
    activity=${step%%:*}
    seconds=infinity
    [ "$activity" = "$step" ] || seconds=${step#*:}
    case $activity in
      busy | light | idle | stuck) say "$activity"; rest "$seconds" ;;
      none) leave; rest "$seconds" ;;
      die) kill -KILL $$ ;;
      exit) leave; exit 0 ;;
      fail) leave; exit 1 ;;
      *) echo "rank: '$step': no such step" >&2; exit 2 ;;
    esac
  done
}

schedule=
for argument in "$@"; do
  case $argument in
    "$worker="*) schedule=${argument#*=}; break ;;
    *=*) ;;
    *) schedule=$argument ;;
  esac
done
[ -n "$schedule" ] || { echo "usage: rank [N=SCHEDULE]... SCHEDULE" >&2; exit 2; }

trap 'leave; kill %1 2> /dev/null; exit 143' TERM INT
follow "$schedule"
leave
