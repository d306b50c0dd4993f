/* SPDX-License-Identifier: MIT */
/*
 * From a probe's file to the bytes of its description: may the file be
 * trusted, is it an ELF file for BPF, has it the section. What the description
 * then says is checked in description.c. Calls no libbpf.
 */
#include "description.h"

#include "cleanup.h"
#include "description_check.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef EM_BPF
#define EM_BPF 247
#endif

#define OBJECT_SUFFIX ".bpf.o"
#define OBJECT_SIZE_MAX (16 << 20)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

#define REFUSE(code, ...) description__refuse(ret_why, code, __VA_ARGS__)

/* The bytes that are found belong to `elf`. */
static int find_section(Elf *elf, Elf_Data **ret_data, char *ret_why) {
  size_t names;
  Elf_Scn *scn = NULL;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return REFUSE(ENOEXEC, "its sections cannot be read: %s", elf_errmsg(-1));
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == NULL || header.sh_type != SHT_PROGBITS)
      continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (name == NULL || strcmp(name, LATENCY_SECTION) != 0)
      continue;
    Elf_Data *data = elf_rawdata(scn, NULL);
    if (data == NULL || data->d_buf == NULL)
      return REFUSE(ENOEXEC,
                    "its section " LATENCY_SECTION " is not all there");
    *ret_data = data;
    return 0;
  }
  return REFUSE(ENOEXEC, "it has no section " LATENCY_SECTION);
}

static int copy_section(Elf *elf, struct latency_description *ret_desc,
                        char *ret_why) {
  GElf_Ehdr header;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
    return REFUSE(ENOEXEC, "it is no ELF file");
  if (header.e_machine != EM_BPF)
    return REFUSE(ENOEXEC, "it is built for machine %u, not for BPF",
                  header.e_machine);
  if (header.e_ident[EI_DATA] != NATIVE_DATA)
    return REFUSE(ENOEXEC, "it is built for the other byte order");

  Elf_Data *data = NULL;
  int ret = find_section(elf, &data, ret_why);
  if (ret != 0)
    return ret;
  /* Another version may have another size: then the version is the reason. */
  if (data->d_size != sizeof(*ret_desc)) {
    __u32 version = 0;
    if (data->d_size >= sizeof(version))
      memcpy(&version, data->d_buf, sizeof(version));
    return REFUSE(ENOEXEC,
                  "its section " LATENCY_SECTION " (ABI version %u) has %zu "
                  "bytes, not %zu (version %d)",
                  version, data->d_size, sizeof(*ret_desc),
                  LATENCY_ABI_VERSION);
  }
  memcpy(ret_desc, data->d_buf, sizeof(*ret_desc));
  return 0;
}

static int parse(const struct description_image *image,
                 struct latency_description *ret_desc, char *ret_why) {
  if (image->size == 0)
    return REFUSE(ENOEXEC, "it is empty");
  if (elf_version(EV_CURRENT) == EV_NONE)
    return REFUSE(ENOEXEC, "libelf is older than its header");
  Elf *elf = elf_memory(image->bytes, image->size);
  if (elf == NULL)
    return REFUSE(ENOEXEC, "it is no ELF file");
  int ret = copy_section(elf, ret_desc, ret_why);
  elf_end(elf);
  return ret != 0 ? ret : description__check(ret_desc, ret_why);
}

/* May what is in this file run in the kernel? */
static int check_file(const struct stat *st, char *ret_why) {
  if (!S_ISREG(st->st_mode))
    return REFUSE(EPERM, "it is not a regular file");
  if (st->st_uid != 0 && st->st_uid != geteuid())
    return REFUSE(EPERM,
                  "it belongs to user %u, neither to root nor to user %u, who "
                  "runs collectd",
                  (unsigned)st->st_uid, (unsigned)geteuid());
  if (st->st_mode & (S_IWGRP | S_IWOTH))
    return REFUSE(EPERM,
                  "others than its owner may write to it (mode %04o; chmod "
                  "go-w)",
                  (unsigned)st->st_mode & 07777);
  if (st->st_size > OBJECT_SIZE_MAX)
    return REFUSE(ENOEXEC, "it has more than %d bytes", OBJECT_SIZE_MAX);
  return 0;
}

static int read_bytes(int fd, const struct description_image *image,
                      char *ret_why) {
  for (size_t done = 0; done < image->size;) {
    ssize_t n = read(fd, (char *)image->bytes + done, image->size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return REFUSE(errno, "cannot read it: %s", strerror(errno));
    if (n == 0)
      return REFUSE(EIO, "it became shorter while it was read");
    done += (size_t)n;
  }
  return 0;
}

/* One open file, one copy of it: what is checked is what is parsed. */
static int parse_file(int fd, struct latency_description *ret_desc,
                      struct description_image *ret_image, char *ret_why) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return REFUSE(errno, "cannot read it: %s", strerror(errno));
  int ret = check_file(&st, ret_why);
  if (ret != 0)
    return ret;

  _cleanup_free_ char *bytes = malloc((size_t)st.st_size + 1);
  if (bytes == NULL)
    return REFUSE(ENOMEM, "out of memory");
  const struct description_image image = {bytes, (size_t)st.st_size};
  ret = read_bytes(fd, &image, ret_why);
  if (ret == 0)
    ret = parse(&image, ret_desc, ret_why);
  if (ret == 0)
    *ret_image = (struct description_image){TAKE_PTR(bytes), image.size};
  return ret;
}

/* A probe is asked for by its file's name, and reports under its own. */
static int check_file_name(const char *path, const char *name, char *ret_why) {
  const char *slash = strrchr(path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  size_t len = strlen(name);
  if (strncmp(base, name, len) != 0 || strcmp(base + len, OBJECT_SUFFIX) != 0)
    return REFUSE(ENOEXEC,
                  "its probe is called \"%s\", so its file must be "
                  "%s" OBJECT_SUFFIX,
                  name, name);
  return 0;
}

/* Gives out what has been read, or says what is wrong with `path`. */
static int finish(int ret, const char *path, const char *why,
                  const struct latency_description *desc,
                  struct latency_description *ret_desc, char *err,
                  size_t err_size) {
  if (ret == 0)
    *ret_desc = *desc;
  else
    snprintf(err, err_size, "%s: %s", path, why);
  return ret;
}

int description__parse(const char *path, const void *image, size_t image_size,
                       struct latency_description *ret_desc, char *err,
                       size_t err_size) {
  struct latency_description desc;
  char why[DESCRIPTION_WHY_LEN] = "";
  /* libelf only reads, but its types are from before const. */
  const struct description_image bytes = {(void *)image, image_size};
  int ret = parse(&bytes, &desc, why);
  return finish(ret, path, why, &desc, ret_desc, err, err_size);
}

int description__read(const char *path, struct latency_description *ret_desc,
                      struct description_image *ret_image, char *err,
                      size_t err_size) {
  struct latency_description desc;
  struct description_image image = {NULL, 0};
  char why[DESCRIPTION_WHY_LEN] = "";
  int ret;
  /* O_NONBLOCK: the open of a FIFO would wait for a writer. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    ret = description__refuse(why, errno, "%s", strerror(errno));
  } else {
    ret = parse_file(fd, &desc, &image, why);
    close(fd);
  }
  if (ret == 0)
    ret = check_file_name(path, desc.name, why);
  if (ret == 0 && ret_image != NULL)
    *ret_image = image;
  else
    free(image.bytes);
  return finish(ret, path, why, &desc, ret_desc, err, err_size);
}
