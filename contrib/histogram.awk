# Draws what collectd's csv plugin wrote of ebpf_latency, for a person to read:
# one histogram for each probe's busiest label sets. The first file is
# collectd's log, which tells why a probe is off; the others are the series,
# .../ebpf_latency-INSTANCE/TYPE-TYPE_INSTANCE-DATE with rows "epoch,value".
#
# -v seconds=N is the time that the run took. For any POSIX awk.

BEGIN {
  FS = ","
  BAR = 40  # characters
  MOST = 3  # label sets of a probe
  PERCENTILES = split("50 90 99 99.9", percentile, " ")
}

# --- Reading -----------------------------------------------------------------

NR == FNR {
  if (match($0, /ebpf_latency plugin: [^ ]+: off: /)) {
    text = substr($0, RSTART)
    sub(/^ebpf_latency plugin: /, "", text)
    split(text, words, ":")
    why_off[words[1]] = text
  }
  next
}

FNR == 1 {
  parts = split(FILENAME, part, "/")
  instance = part[parts - 1]
  sub(/^ebpf_latency-/, "", instance)
  series = part[parts]
  sub(/-[0-9]+-[0-9]+-[0-9]+$/, "", series)
  bound = series
  of_bucket = sub(/^derive-bucket-/, "", bound)
  next
}

# Counters are since load: their last row is of the whole run.
series == "gauge-up" { up[instance] = $2 }
series == "derive-count" { count[instance] = $2 }
series == "derive-sum" { sum[instance] = $2 }
of_bucket {
  bucket[instance, bound] = $2
  bounds[bound] = 1
}

# These are of one interval each.
series == "latency-max" && $2 > max[instance] { max[instance] = $2 }
series ~ /^latency-percentile-/ {
  p = substr(series, length("latency-percentile-") + 1)
  interval[instance, p, ++intervals[instance, p]] = $2
}

# --- Text --------------------------------------------------------------------

function digits(value) {
  return sprintf(value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f",
    value)
}

function duration(ns) {
  ns += 0 # a bound may come as text
  if (ns < 999.5)
    return sprintf("%.0f ns", ns)
  if (ns < 999.5e3)
    return digits(ns / 1e3) " us"
  if (ns < 999.5e6)
    return digits(ns / 1e6) " ms"
  return digits(ns / 1e9) " s"
}

# 12,345,678
function thousands(number,  text, result) {
  text = sprintf("%.0f", number)
  while (length(text) > 3) {
    result = "," substr(text, length(text) - 2) result
    text = substr(text, 1, length(text) - 3)
  }
  return text result
}

# Rounded up: what is there is seen.
function repeated(character, times,  text) {
  while (times-- > 0)
    text = text character
  return text
}

# --- Numbers -----------------------------------------------------------------

# Sorts list[1 .. n], which is short.
function sort(list, n,  i, j, value) {
  for (i = 2; i <= n; i++) {
    value = list[i]
    for (j = i - 1; j >= 1 && list[j] + 0 > value + 0; j--)
      list[j + 1] = list[j]
    list[j + 1] = value
  }
}

# All bounds that there are, rising, "inf" last.
function sort_bounds(  name, has_inf) {
  bounds_num = 0
  for (name in bounds)
    if (name == "inf")
      has_inf = 1
    else
      bound_at[++bounds_num] = name
  sort(bound_at, bounds_num)
  if (has_inf)
    bound_at[++bounds_num] = "inf"
}

# The largest that the p-th percentile of the whole run can be.
function at_most(set, p,  i, rank, seen) {
  rank = p / 100 * count[set]
  for (i = 1; i < bounds_num; i++) {
    seen += bucket[set, bound_at[i]]
    if (seen >= rank)
      break
  }
  if (bound_at[i] == "inf" || bound_at[i] + 0 > max[set] + 0)
    return max[set]
  return bound_at[i]
}

# The share-th of the intervals' own percentiles: 0.5 the median, 1 the worst.
function of_intervals(set, p, share,  i, n, list) {
  n = intervals[set, p]
  for (i = 1; i <= n; i++)
    list[i] = interval[set, p, i]
  sort(list, n)
  i = int(share * n + 0.5)
  return list[i < 1 ? 1 : i]
}

# --- Drawing -----------------------------------------------------------------

function draw_bars(set,  i, first, last, most, value, label) {
  for (i = 1; i <= bounds_num; i++) {
    value = bucket[set, bound_at[i]]
    if (value > 0) {
      first = first ? first : i
      last = i
      most = value > most ? value : most
    }
  }
  for (i = first; i <= last; i++) {
    value = bucket[set, bound_at[i]]
    label = bound_at[i] == "inf" ? "> " duration(bound_at[i - 1]) \
      : "<= " duration(bound_at[i])
    printf "  %12s |%-" BAR "s| %11s\n", label,
      repeated("#", value / most * BAR), thousands(value)
  }
}

function draw_percentiles(set,  i, all, median, worst) {
  printf "  %-24s", ""
  for (i = 1; i <= PERCENTILES; i++) {
    printf " %10s", "p" percentile[i]
    all = all sprintf(" %10s", duration(at_most(set, percentile[i])))
    median = median \
      sprintf(" %10s", duration(of_intervals(set, percentile[i], 0.5)))
    worst = worst \
      sprintf(" %10s", duration(of_intervals(set, percentile[i], 1)))
  }
  printf "\n  %-24s%s\n", "whole run, at most", all
  printf "  %-24s%s\n", "1 s intervals, median", median
  printf "  %-24s%s\n\n", "1 s intervals, worst", worst
}

function draw(set) {
  printf "%s: %s event%s in %d s, average %s, max %s\n", set,
    thousands(count[set]), count[set] == 1 ? "" : "s", seconds,
    duration(sum[set] / count[set]), duration(max[set])
  draw_bars(set)
  draw_percentiles(set)
}

# Where requests have phases, the total is what one asks for first.
function is_set_of(set, probe) {
  return count[set] > 0 && set !~ /-(queue|device)$/ &&
    (set == probe || index(set, probe "-") == 1)
}

# The set of the probe that has most and has not been drawn; "": none is left.
function busiest(probe,  set, best) {
  for (set in count)
    if (is_set_of(set, probe) && !(set in drawn) &&
        (best == "" || count[set] > count[best]))
      best = set
  return best
}

function draw_probe(probe,  set, n, more) {
  if (!up[probe]) {
    printf "%s\n\n", probe in why_off ? why_off[probe] : probe ": off"
    return
  }
  while (n < MOST && (set = busiest(probe)) != "") {
    draw(set)
    drawn[set] = 1
    n++
  }
  if (n == 0)
    printf "%s: no event in %d s\n\n", probe, seconds
  while ((set = busiest(probe)) != "") {
    drawn[set] = 1
    more++
  }
  if (more)
    printf "%s: %d more in the CSV files, with fewer events\n\n", probe, more
}

END {
  sort_bounds()
  # In the order of the design's default set; then any other.
  split("runqlat memlat iolat", first, " ")
  for (i = 1; i in first; i++)
    if (first[i] in up) {
      draw_probe(first[i])
      delete up[first[i]]
    }
  for (probe in up)
    draw_probe(probe)
  print "Whole run: the percentile is not above what is given, which is a" \
    " bar's bound or\nthe maximum. Intervals: within 1/16 of it."
}
