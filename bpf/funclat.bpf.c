/* SPDX-License-Identifier: MIT */
/*
 * Functions that the configuration names: entered to returned, each call of
 * each. A thread's calls of one function that have not returned are a stack of
 * starts, and every function has its own: they nest and recurse without
 * overwriting each other.
 *
 * A call that ends by longjmp() or an exception has no return. Its start is
 * told by the stack pointer: it is below that of a frame that is alive.
 */
#include "latency.bpf.h"

#include <linux/ptrace.h>

/* Deeper recursion is lost. A power of two. */
#define DEPTH 16

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .target = LATENCY_TARGET_FUNCTIONS,
    .name = "funclat",
    .help = "Functions of your choice: entered to returned",
    .warning = "each call of a function of a file costs about a microsecond, "
               "in every process that runs it, whatever Process says; one Pid "
               "spares the others",
    .labels = {{.name = "function", .decoder = LATENCY_DECODE_FUNCTION}},
    .rungs =
        {{.name = "uprobe",
          .programs = "uprobe_return uprobe_entry",
          .maps = "calls"},
         {.name = "uprobe+hash",
          .programs = "uprobe_return_by_pid uprobe_entry_by_pid forget_pid",
          .maps = "calls_by_pid"},
         {.name = "fentry",
          .programs = "fentry_return fentry_entry",
          .maps = "calls"},
         {.name = "fentry+hash",
          .programs = "fentry_return_by_pid fentry_entry_by_pid forget_pid",
          .maps = "calls_by_pid"},
         {.name = "kprobe",
          .programs = "kprobe_return kprobe_entry",
          .maps = "calls"},
         {.name = "kprobe+hash",
          .programs = "kprobe_return_by_pid kprobe_entry_by_pid forget_pid",
          .maps = "calls_by_pid"}},
};

struct funclat_call {
  __u64 frame; /* the stack pointer at the entry; stacks grow downwards */
  __u64 ns;
};

struct funclat_calls {
  __u32 depth; /* how many have not returned, the outermost first */
  __u32 reserved;
  struct funclat_call call[DEPTH];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct funclat_calls);
} calls SEC(".maps");

/* For kernels before 5.13, which have no storage of tasks for tracing. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 8192);
  __type(key, __u32);
  __type(value, struct funclat_calls);
} calls_by_pid SEC(".maps");

/* What a new thread's are made from; too large for a program's stack. */
const struct funclat_calls no_calls SEC(".rodata.latency_no_calls") = {};

enum keeper { IN_TASK, BY_PID };

SEC("tp_btf/sched_process_exit")
int BPF_PROG(forget_pid, struct task_struct *task) {
  __u32 pid = task->pid;
  bpf_map_delete_elem(&calls_by_pid, &pid);
  return 0;
}

/* This thread's calls; made if need be, or NULL and in the ledger. */
static __always_inline struct funclat_calls *make_calls(enum keeper keeper) {
  struct funclat_calls *mine;
  if (keeper == IN_TASK) {
    mine = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL,
                                BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!mine)
      latency_lose(LATENCY_LOST_BUSY);
    return mine;
  }
  __u32 pid = bpf_get_current_pid_tgid();
  mine = bpf_map_lookup_elem(&calls_by_pid, &pid);
  if (mine)
    return mine;
  bpf_map_update_elem(&calls_by_pid, &pid, &no_calls, BPF_NOEXIST);
  mine = bpf_map_lookup_elem(&calls_by_pid, &pid);
  if (!mine)
    latency_lose(LATENCY_LOST_MAP_FULL);
  return mine;
}

static __always_inline struct funclat_calls *find_calls(enum keeper keeper) {
  if (keeper == IN_TASK)
    return bpf_task_storage_get(&calls, bpf_get_current_task_btf(), NULL, 0);
  __u32 pid = bpf_get_current_pid_tgid();
  return bpf_map_lookup_elem(&calls_by_pid, &pid);
}

static __always_inline int entered(enum keeper keeper, __u64 frame) {
  if (!latency_wants_current())
    return 0;
  struct funclat_calls *mine = make_calls(keeper);
  if (!mine)
    return 0;
  __u32 depth = mine->depth;
  for (int i = 0; i < DEPTH; i++) { /* gone without a return */
    if (!depth || mine->call[(depth - 1) % DEPTH].frame > frame)
      break;
    latency_lose(LATENCY_LOST_UNMATCHED);
    depth--;
  }
  mine->depth = depth;
  if (depth >= DEPTH) {
    latency_lose(LATENCY_LOST_MAP_FULL);
    return 0;
  }
  mine->depth = depth + 1;
  mine->call[depth % DEPTH].frame = frame;
  mine->call[depth % DEPTH].ns = bpf_ktime_get_ns();
  return 0;
}

/* `end`: all frames below it have ended, the outermost of these just now. */
static __always_inline int returned(enum keeper keeper, __u64 end) {
  __u64 now = bpf_ktime_get_ns();
  __u64 since = 0;
  if (!latency_wants_current()) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  struct funclat_calls *mine = find_calls(keeper);
  if (!mine) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  __u32 depth = mine->depth;
  for (int i = 0; i < DEPTH; i++) {
    if (!depth || mine->call[(depth - 1) % DEPTH].frame >= end)
      break;
    if (since)
      latency_lose(LATENCY_LOST_UNMATCHED);
    depth--;
    since = mine->call[depth % DEPTH].ns;
  }
  mine->depth = depth;
  if (since)
    latency_record_span(latency_group_of_current(latency_config.function, 0), 0,
                        since, now);
  else if (depth < DEPTH) /* else it was too deep, and is in the ledger */
    latency_lose(LATENCY_LOST_UNMATCHED);
  return 0;
}

/* x86 takes the return address off the stack: frames below it are gone. On
 * the others the stack pointer is again what it was at the entry. */
#if defined(bpf_target_x86)
#define END_OF(ctx) PT_REGS_SP(ctx)
#else
#define END_OF(ctx) (PT_REGS_SP(ctx) + 1)
#endif

/* In the kernel a stack pointer is not to be had, or not the same at both
 * ends. There a call in a call takes the place of the outer one, whose return
 * is unmatched. */
#define NO_FRAME 0
#define NO_END 1

SEC("uprobe")
int uprobe_entry(struct pt_regs *ctx) {
  return entered(IN_TASK, PT_REGS_SP(ctx));
}

SEC("uretprobe")
int uprobe_return(struct pt_regs *ctx) {
  return returned(IN_TASK, END_OF(ctx));
}

SEC("fentry")
int BPF_PROG(fentry_entry) { return entered(IN_TASK, NO_FRAME); }

SEC("fexit")
int BPF_PROG(fentry_return) { return returned(IN_TASK, NO_END); }

SEC("kprobe")
int kprobe_entry(void *ctx) { return entered(IN_TASK, NO_FRAME); }

SEC("kretprobe")
int kprobe_return(void *ctx) { return returned(IN_TASK, NO_END); }

SEC("uprobe")
int uprobe_entry_by_pid(struct pt_regs *ctx) {
  return entered(BY_PID, PT_REGS_SP(ctx));
}

SEC("uretprobe")
int uprobe_return_by_pid(struct pt_regs *ctx) {
  return returned(BY_PID, END_OF(ctx));
}

SEC("fentry")
int BPF_PROG(fentry_entry_by_pid) { return entered(BY_PID, NO_FRAME); }

SEC("fexit")
int BPF_PROG(fentry_return_by_pid) { return returned(BY_PID, NO_END); }

SEC("kprobe")
int kprobe_entry_by_pid(void *ctx) { return entered(BY_PID, NO_FRAME); }

SEC("kretprobe")
int kprobe_return_by_pid(void *ctx) { return returned(BY_PID, NO_END); }
