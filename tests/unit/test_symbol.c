/* SPDX-License-Identifier: MIT */
/*
 * Functions looked up in files: in this program itself, in the C library, and
 * in copies of this program that were spoiled. The truth is where the dynamic
 * linker has put them.
 */
#include "symbol.h"
#include "symbol_name.h"

#include "object.h"
#include "random.h"

#include <check.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define VISIBLE __attribute__((noinline, used))

static volatile int sink;

VISIBLE void symbol_plain(void);
VISIBLE void symbol_plain(void) { sink = 1; }
VISIBLE static void symbol_local(void) { sink = 2; }
VISIBLE void symbol_twin_a(void);
VISIBLE void symbol_twin_a(void) { sink = 3; }
VISIBLE void symbol_twin_b(void);
VISIBLE void symbol_twin_b(void) { sink = 4; }

void queue_enqueue(void) __asm__("_ZNK4test5Queue7enqueueEi");
VISIBLE void queue_enqueue(void) { sink = 5; }
void queue_take_1(void) __asm__("_ZN4test5Queue4takeEi");
VISIBLE void queue_take_1(void) { sink = 6; }
void queue_take_2(void) __asm__("_ZN4test5Queue4takeEl");
VISIBLE void queue_take_2(void) { sink = 7; }

static char *image; /* of this program */
static size_t image_size;
static int fd = -1; /* of a copy of it, or of what a test opens */

static void setup(void) {
  image = read_object("/proc/self/exe", &image_size);
  fd = memfd_create("test_symbol", MFD_CLOEXEC);
  ck_assert_int_ge(fd, 0);
}

static void teardown(void) {
  free(image);
  close(fd);
}

static void write_image(size_t size) {
  ck_assert_int_eq(ftruncate(fd, 0), 0);
  for (size_t done = 0; done < size;) {
    ssize_t n = pwrite(fd, image + done, size - done, (off_t)done);
    ck_assert_int_gt(n, 0);
    done += (size_t)n;
  }
}

/* Finds nothing, for this reason; the offset is untouched. */
static void assert_refused(const char *name, int ret, const char *message) {
  char why[SYMBOL_WHY_LEN] = "";
  uint64_t offset = 4711;
  int got = symbol__find(fd, name, &offset, why);
  if (got != ret || strstr(why, message) == NULL)
    ck_abort_msg("%s: %d, not %d \"%s\": %s", name, got, ret, message, why);
  ck_assert_uint_eq(offset, 4711);
}

static void assert_found(const char *name, uint64_t offset) {
  char why[SYMBOL_WHY_LEN] = "";
  uint64_t got = 0;
  if (symbol__find(fd, name, &got, why) != 0)
    ck_abort_msg("%s: %s", name, why);
  if (got != offset)
    ck_abort_msg("%s: %#lx, not %#lx", name, (unsigned long)got,
                 (unsigned long)offset);
}

/* Which byte of which file is mapped at an address. */
static uint64_t mapped_offset(const void *address) {
  unsigned long start, end, offset, found = 0;
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  while (fgets(line, sizeof(line), maps) != NULL)
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
        (uintptr_t)address >= start && (uintptr_t)address < end)
      found = (uintptr_t)address - start + offset;
  fclose(maps);
  ck_assert_uint_ne(found, 0);
  return found;
}

START_TEST(functions_of_a_program) {
  write_image(image_size);
  assert_found("symbol_plain", mapped_offset(symbol_plain));
  assert_found("symbol_local", mapped_offset(symbol_local));
  assert_found("_ZNK4test5Queue7enqueueEi", mapped_offset(queue_enqueue));
  assert_found("test::Queue::enqueue", mapped_offset(queue_enqueue));
  assert_found("test::Queue::enqueue(int) const", mapped_offset(queue_enqueue));
  assert_found("_ZN4test5Queue4takeEl", mapped_offset(queue_take_2));
}
END_TEST

START_TEST(functions_of_libc) {
  static const char *const names[] = {"malloc", "pthread_cond_wait", "qsort"};
  char path[4096];
  ck_assert_int_eq(symbol__libc(path, sizeof(path)), 0);
  ck_assert_int_eq(symbol__libc(path, 4), -ENOENT);
  ck_assert_int_eq(symbol__libc(path, sizeof(path)), 0);
  void *libc = dlopen(path, RTLD_LAZY);
  ck_assert_ptr_nonnull(libc);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ck_assert_int_ge(dup2(file, fd), 0);
  for (size_t i = 0; i < LEN(names); i++)
    assert_found(names[i], mapped_offset(dlsym(libc, names[i])));
  assert_refused("mallok", -ENOENT, "near are: malloc");
  close(file);
  dlclose(libc);
}
END_TEST

START_TEST(not_found) {
  write_image(image_size);
  assert_refused("symbol_plane", -ENOENT,
                 "no function \"symbol_plane\"; near are: symbol_plain");
  assert_refused("Symbol_Plain", -ENOENT, "near are: symbol_plain");
  assert_refused("test::Queue::enqueu", -ENOENT, "_ZNK4test5Queue7enqueueEi");
  assert_refused("enqueue", -ENOENT, "_ZNK4test5Queue7enqueueEi");
  assert_refused("sink", -ENOENT, "no function"); /* it is a variable */
  assert_refused("no_name_like_this_at_all", -ENOENT,
                 "no function \"no_name_like_this_at_all\"");
  assert_refused("test::Queue::take", -EEXIST, "give the mangled name");
  assert_refused("test::Queue::take(int)", -EEXIST, "give the mangled name");
  assert_refused("(int)", -ENOENT, "no function");
}
END_TEST

/* The entry of a symbol in the image. */
static Elf64_Sym *symbol_of(const char *name) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB)
      continue;
    Elf64_Sym *table = (Elf64_Sym *)(image + sections[i].sh_offset);
    const char *names = image + sections[sections[i].sh_link].sh_offset;
    for (size_t j = 0; j < sections[i].sh_size / sizeof(*table); j++)
      if (strcmp(names + table[j].st_name, name) == 0)
        return &table[j];
  }
  ck_abort_msg("no symbol %s", name);
  return NULL;
}

static void rename_section(const char *from, const char *to) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  char *names = image + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; i++)
    if (strcmp(names + sections[i].sh_name, from) == 0) {
      ck_assert_uint_le(strlen(to), strlen(from));
      memcpy(names + sections[i].sh_name, to, strlen(to) + 1);
      return;
    }
  ck_abort_msg("no section %s", from);
}

START_TEST(go_program) {
  rename_section(".init_array", ".gopclntab");
  write_image(image_size);
  assert_refused("symbol_plain", -ENOTSUP, "Go program");
}
END_TEST

START_TEST(spoiled_symbols) {
  const Elf64_Sym plain = *symbol_of("symbol_plain");
  Elf64_Sym *const now = symbol_of("symbol_plain");

  now->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
  write_image(image_size);
  assert_refused("symbol_plain", -ENOTSUP, "IFUNC");
  *now = plain;
  now->st_value = 1ull << 60;
  write_image(image_size);
  assert_refused("symbol_plain", -ENOEXEC, "not in its code");
  *now = plain;
  now->st_shndx = SHN_UNDEF;
  write_image(image_size);
  assert_refused("symbol_plain", -ENOENT, "no function");
  *now = plain;
  now->st_name = UINT32_MAX;
  write_image(image_size);
  assert_refused("symbol_plain", -ENOENT, "no function");
  *now = plain;

  Elf64_Sym *const twin = symbol_of("symbol_twin_a");
  symbol_of("symbol_twin_b")->st_name = twin->st_name;
  write_image(image_size);
  assert_refused("symbol_twin_a", -EEXIST, "2 functions \"symbol_twin_a\"");
  /* One that others may link with stands for one of a single file. */
  twin->st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  write_image(image_size);
  assert_found("symbol_twin_a", mapped_offset(symbol_twin_b));
}
END_TEST

START_TEST(no_program) {
  static const char *const texts[] = {"", "#!/bin/sh\n", "\177ELF",
                                      "!<arch>\n"};
  for (size_t i = 0; i < LEN(texts); i++) {
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(pwrite(fd, texts[i], strlen(texts[i]), 0),
                     (ssize_t)strlen(texts[i]));
    assert_refused("main", -ENOEXEC, "");
  }
  ((Elf64_Ehdr *)image)->e_type = ET_REL;
  write_image(image_size);
  assert_refused("symbol_plain", -ENOEXEC, "neither a program nor a library");
}
END_TEST

/* Whatever is found or not, in files that are cut short or damaged. */
static void look(size_t size) {
  char why[SYMBOL_WHY_LEN] = "";
  uint64_t offset;
  write_image(size);
  (void)symbol__find(fd, "symbol_plain", &offset, why);
  (void)symbol__find(fd, "symbol_plane", &offset, why);
}

START_TEST(truncated) {
  for (size_t i = 0; i < 100; i++)
    look(image_size / 100 * i);
}
END_TEST

START_TEST(damaged) {
  const Elf64_Ehdr header = *(const Elf64_Ehdr *)image;
  for (int i = 0; i < 100; i++) {
    uint64_t random = random_u64();
    size_t at = random % (header.e_shnum * sizeof(Elf64_Shdr));
    at = i % 4 == 0 ? random % sizeof(header) : header.e_shoff + at;
    image[at] ^= (char)(random >> 32 | 1);
    look(image_size);
    image[at] ^= (char)(random >> 32 | 1);
  }
}
END_TEST

static const struct {
  const char *mangled, *name; /* NULL: none of these */
} scoped[] = {
    {"_Z4sendi", "send"},
    {"_ZL4sendv", "send"},
    {"_ZN2ns5Queue4sendEi", "ns::Queue::send"},
    {"_ZNK2ns5Queue4sendEv", "ns::Queue::send"},
    {"_ZNVK1a1bEv", "a::b"},
    {"send", NULL},
    {"", NULL},
    {"_Z", NULL},
    {"_Z4send", NULL},              /* a variable */
    {"_ZN2ns5QueueC1Ev", NULL},     /* a constructor */
    {"_ZN2ns5QueueplERKS0_", NULL}, /* an operator */
    {"_Z4sendIiEvT_", NULL},        /* a template */
    {"_ZN2ns4sendIiEEvT_", NULL},
    {"_ZSt4sortv", NULL},
    {"_ZTV4Base", NULL},
    {"_ZN99999999999999999999sendEv", NULL},
    {"_ZN4sen", NULL},
    {"_ZN04sendEv", NULL},
    {"_ZN2ns", NULL},
    {"_ZNE", NULL},
};

START_TEST(scoped_names) {
  char name[64] = "";
  ck_assert_int_eq(symbol_name__scoped(scoped[_i].mangled, name, sizeof(name)),
                   scoped[_i].name != NULL);
  if (scoped[_i].name != NULL)
    ck_assert_str_eq(name, scoped[_i].name);
  ck_assert(!symbol_name__scoped(scoped[_i].mangled, name, 4));
}
END_TEST

START_TEST(near_names) {
  static const char *const names[] = {
      "free",    "valloc",  "mallok",  "malloc", "malloc", "my_malloc_here",
      "realloc", "mallocx", "xmalloc", "MALLOC", "mal",    "x"};
  static const char *const nearest[] = {"malloc", "MALLOC", "valloc", "mallok",
                                        "mallocx"};
  struct symbol_near near = {.wanted = "malloc"};
  for (size_t i = 0; i < LEN(names); i++)
    symbol_name__consider(&near, names[i]);
  ck_assert_uint_eq(near.num, LEN(nearest));
  for (size_t i = 0; i < near.num; i++)
    ck_assert_str_eq(near.names[i], nearest[i]);

  char *endless = calloc(1, 100000);
  ck_assert_ptr_nonnull(endless);
  memset(endless, 'a', 99999);
  symbol_name__consider(&near, endless);
  ck_assert_uint_eq(near.num, LEN(nearest));
  near = (struct symbol_near){.wanted = endless};
  symbol_name__consider(&near, "malloc");
  ck_assert_uint_eq(near.num, 0);
  free(endless);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  Suite *suite = suite_create("symbol");
  TCase *tcase = tcase_create("symbol");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, functions_of_a_program);
  tcase_add_test(tcase, functions_of_libc);
  tcase_add_test(tcase, not_found);
  tcase_add_test(tcase, go_program);
  tcase_add_test(tcase, spoiled_symbols);
  tcase_add_test(tcase, no_program);
  tcase_add_test(tcase, truncated);
  tcase_add_test(tcase, damaged);
  tcase_add_loop_test(tcase, scoped_names, 0, LEN(scoped));
  tcase_add_test(tcase, near_names);
  suite_add_tcase(suite, tcase);
  return suite;
}
