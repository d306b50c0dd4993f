/* SPDX-License-Identifier: MIT */
/*
 * From a function's name to its offset in an ELF file. The file is another
 * package's and may be anything: nothing in it is believed.
 */
#include "symbol.h"

#include "symbol_name.h"

#include <dlfcn.h>
#include <errno.h>
#include <gelf.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<gnu/lib-names.h>)
#include <gnu/lib-names.h>
#endif
#ifndef LIBC_SO
#define LIBC_SO "libc.so"
#endif

/* Bit of a version's number: not what a program links with that names none. */
#define VERSION_HIDDEN 0x8000

struct finder {
  Elf *elf;
  const char *name;
  char *why;
  bool scoped;  /* compare C++ names with their scopes */
  unsigned num; /* different functions of that name */
  bool global;  /* the one below is, and no version of the past */
  GElf_Sym sym;
  struct symbol_near near;
};

__attribute__((format(printf, 3, 4))) static int
refuse(char *why, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why, SYMBOL_WHY_LEN, format, args);
  va_end(args);
  return -code;
}

/* Sections that the Go linker makes, stripped or not. */
static bool is_go(const char *section) {
  static const char *const names[] = {".gopclntab", ".go.buildinfo",
                                      ".note.go.buildid",
                                      ".data.rel.ro.gopclntab"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(section, names[i]) == 0)
      return true;
  return false;
}

static int check(Elf *elf, char *why) {
  GElf_Ehdr header;
  size_t names;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
    return refuse(why, ENOEXEC, "it is no ELF file");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return refuse(why, ENOEXEC, "it is neither a program nor a library");
  if (elf_getshdrstrndx(elf, &names) != 0)
    return refuse(why, ENOEXEC, "its sections cannot be read: %s",
                  elf_errmsg(-1));
  Elf_Scn *scn = NULL;
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr section;
    const char *name = gelf_getshdr(scn, &section) == NULL
                           ? NULL
                           : elf_strptr(elf, names, section.sh_name);
    if (name != NULL && is_go(name))
      return refuse(why, ENOTSUP,
                    "it is a Go program, which a probe on a return would "
                    "crash: Go moves its stacks");
  }
  return 0;
}

static bool is_function(const GElf_Sym *sym) {
  const int type = GELF_ST_TYPE(sym->st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         sym->st_shndx != SHN_UNDEF && sym->st_value != 0;
}

/* "name", "name@VERSION" and "name@@VERSION" are one; of "ns::f(int)" only
 * "ns::f" is compared. */
static bool has_name(const struct finder *finder, const char *name) {
  char scoped[512];
  const size_t len =
      finder->scoped ? strcspn(finder->name, "(") : strlen(finder->name);
  if (finder->scoped)
    return symbol_name__scoped(name, scoped, sizeof(scoped)) &&
           strncmp(scoped, finder->name, len) == 0 && scoped[len] == '\0';
  return strncmp(name, finder->name, len) == 0 &&
         (name[len] == '\0' || name[len] == '@');
}

/* A global function stands for local ones of the same name, the version that
 * is linked with for those of the past. */
static void found(struct finder *finder, const GElf_Sym *sym, bool hidden) {
  const bool global = GELF_ST_BIND(sym->st_info) != STB_LOCAL && !hidden;
  if (finder->num > 0 && finder->sym.st_value == sym->st_value) {
    finder->global |= global;
    return;
  }
  if (finder->num > 0 && finder->global && !global)
    return;
  finder->num = finder->global == global ? finder->num + 1 : 1;
  finder->global = global;
  finder->sym = *sym;
}

/* The versions of .dynsym's symbols, by their numbers. NULL: none. */
static Elf_Data *versions(Elf *elf) {
  Elf_Scn *scn = NULL;
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) != NULL && header.sh_type == SHT_GNU_versym)
      return elf_getdata(scn, NULL);
  }
  return NULL;
}

static bool is_hidden(Elf_Data *data, int i, const char *name) {
  GElf_Versym version;
  const char *at = strchr(name, '@');
  if (at != NULL)
    return at[1] != '@';
  return data != NULL && gelf_getversym(data, i, &version) != NULL &&
         version & VERSION_HIDDEN;
}

/* All functions of one table. `near`: collect those that are like it. */
static void search(struct finder *finder, Elf_Scn *scn, const GElf_Shdr *header,
                   bool near) {
  Elf_Data *data = elf_getdata(scn, NULL);
  Elf_Data *version =
      header->sh_type == SHT_DYNSYM ? versions(finder->elf) : NULL;
  if (data == NULL || header->sh_entsize == 0)
    return;
  const size_t count = data->d_size / header->sh_entsize;
  for (size_t i = 0; i < count && i < INT32_MAX; i++) {
    GElf_Sym sym;
    if (gelf_getsym(data, (int)i, &sym) == NULL || !is_function(&sym))
      continue;
    const char *name = elf_strptr(finder->elf, header->sh_link, sym.st_name);
    if (name == NULL || *name == '\0')
      continue;
    if (near)
      symbol_name__consider(&finder->near, name);
    else if (has_name(finder, name))
      found(finder, &sym, is_hidden(version, (int)i, name));
  }
}

static void search_all(struct finder *finder, bool near) {
  Elf_Scn *scn = NULL;
  while ((scn = elf_nextscn(finder->elf, scn)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) != NULL &&
        (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
      search(finder, scn, &header, near);
  }
}

static int refuse_missing(struct finder *finder) {
  search_all(finder, true);
  int len = snprintf(finder->why, SYMBOL_WHY_LEN, "it has no function \"%s\"",
                     finder->name);
  for (size_t i = 0; i < finder->near.num && len < SYMBOL_WHY_LEN; i++)
    len += snprintf(finder->why + len, SYMBOL_WHY_LEN - (size_t)len, "%s%s",
                    i == 0 ? "; near are: " : ", ", finder->near.names[i]);
  return -ENOENT;
}

/* Where the code at an address stands in the file. */
static int offset_of(Elf *elf, uint64_t address, uint64_t *ret_offset) {
  size_t count;
  if (elf_getphdrnum(elf, &count) != 0)
    return -ENOEXEC;
  for (size_t i = 0; i < count && i < INT32_MAX; i++) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, (int)i, &segment) == NULL)
      return -ENOEXEC;
    if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
        address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz) {
      *ret_offset = address - segment.p_vaddr + segment.p_offset;
      return 0;
    }
  }
  return -ENOENT;
}

static int find(struct finder *finder, uint64_t *ret_offset) {
  search_all(finder, false);
  if (finder->num == 0) {
    finder->scoped = true;
    search_all(finder, false);
  }
  if (finder->num == 0)
    return refuse_missing(finder);
  if (finder->num > 1)
    return refuse(finder->why, EEXIST, "it has %u functions \"%s\"%s",
                  finder->num, finder->name,
                  finder->scoped ? ": give the mangled name of one" : "");
  if (GELF_ST_TYPE(finder->sym.st_info) == STT_GNU_IFUNC)
    return refuse(finder->why, ENOTSUP,
                  "\"%s\" only chooses a function when the program starts "
                  "(IFUNC): name the one that is chosen",
                  finder->name);
  if (offset_of(finder->elf, finder->sym.st_value, ret_offset) != 0)
    return refuse(finder->why, ENOEXEC, "\"%s\" is not in its code",
                  finder->name);
  return 0;
}

int symbol__find(int fd, const char *name, uint64_t *ret_offset,
                 char ret_why[SYMBOL_WHY_LEN]) {
  if (elf_version(EV_CURRENT) == EV_NONE)
    return refuse(ret_why, ENOEXEC, "libelf is older than its header");
  /* Not mapped: a file that becomes shorter must not end collectd. */
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  if (elf == NULL)
    return refuse(ret_why, ENOEXEC, "it cannot be read: %s", elf_errmsg(-1));
  struct finder finder = {
      .elf = elf, .name = name, .why = ret_why, .near = {.wanted = name}};
  int ret = check(elf, ret_why);
  if (ret == 0)
    ret = find(&finder, ret_offset);
  elf_end(elf);
  return ret;
}

/* What is mapped: another library's malloc may stand before libc's. */
int symbol__libc(char *ret_path, size_t size) {
  struct link_map *map = NULL;
  void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  if (libc == NULL)
    return -ENOENT;
  int ret = -ENOENT;
  if (dlinfo(libc, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] == '/' &&
      (size_t)snprintf(ret_path, size, "%s", map->l_name) < size)
    ret = 0;
  dlclose(libc);
  return ret;
}
