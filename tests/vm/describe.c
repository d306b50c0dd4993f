/* SPDX-License-Identifier: MIT */
/*
 * Prints what probes say of themselves, one JSON object a line for each object
 * file given, so that the tests know every probe and rung without naming one.
 * Needs neither BPF nor privilege. Names are words: description.c sees to it.
 */
#include "description.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void print_labels(const struct latency_description *desc) {
  printf("\"labels\": [");
  for (size_t i = 0; i < LATENCY_OWN_LABELS && desc->labels[i].name[0]; i++) {
    const struct latency_label *label = &desc->labels[i];
    printf("%s{\"name\": \"%s\", \"values\": \"%s\", \"optional\": %s}",
           i ? ", " : "", label->name, label->values,
           label->optional ? "true" : "false");
  }
  printf("]");
}

static void print_rungs(const struct latency_description *desc) {
  printf("\"rungs\": [");
  for (size_t i = 0; i < LATENCY_RUNGS && desc->rungs[i].name[0]; i++)
    printf("%s\"%s\"", i ? ", " : "", desc->rungs[i].name);
  printf("]");
}

int main(int argc, char **argv) {
  int status = EXIT_SUCCESS;
  for (int i = 1; i < argc; i++) {
    struct latency_description desc;
    char err[1024];
    if (description__read(argv[i], &desc, NULL, err, sizeof(err)) != 0) {
      fprintf(stderr, "%s\n", err);
      status = EXIT_FAILURE;
      continue;
    }
    printf("{\"name\": \"%s\", \"has_task\": %s, ", desc.name,
           desc.has_task ? "true" : "false");
    print_rungs(&desc);
    printf(", ");
    print_labels(&desc);
    printf("}\n");
  }
  return status;
}
