/* SPDX-License-Identifier: MIT */
/* Text -> collectd's tree of options. Gives up when out of memory. */
#include "oconfig_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define WORD DIGITS "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum token { END, EOL, OPEN, CLOSE, SLASH, BOOLEAN, NUMBER, QUOTED, WORDS };

struct parser {
  const char *at; /* behind the token */
  enum token token;
  const char *text; /* the token's */
  size_t len;
};

static void *must(void *p) {
  if (p == NULL)
    abort();
  return p;
}

/* The length of the number at `s`; 0: none is there. */
static size_t number_len(const char *s) {
  size_t hex = strspn(s, "0");
  if (hex == 1 && (s[1] == 'x' || s[1] == 'X')) {
    size_t digits = strspn(s + 2, DIGITS "abcdefABCDEF");
    if (digits > 0)
      return 2 + digits;
  }
  const char *p = s + (*s == '+' || *s == '-');
  size_t integer = strspn(p, DIGITS);
  p += integer;
  size_t fraction = *p == '.' ? strspn(p + 1, DIGITS) : 0;
  if (fraction == 0)
    return integer == 0 ? 0 : (size_t)(p - s);
  p += 1 + fraction;
  /* An exponent needs its sign, and a fraction before it. */
  if ((*p == 'e' || *p == 'E') && (p[1] == '+' || p[1] == '-')) {
    size_t digits = strspn(p + 2, DIGITS);
    p += digits > 0 ? 2 + digits : 0;
  }
  return (size_t)(p - s);
}

static bool is_boolean(const char *s, size_t len) {
  static const char *const words[] = {"true", "yes", "on", "false",
                                      "no",   "off", NULL};
  for (size_t i = 0; words[i] != NULL; i++)
    if (strlen(words[i]) == len && strncmp(words[i], s, len) == 0)
      return true;
  return false;
}

/* The length of the quoted string at `s`, quotes and all; 0: it has no end. */
static size_t quoted_len(const char *s) {
  const char *p = s + 1;
  while (*p != '"') {
    if (*p == '\\')
      p++;
    if (*p == '\0')
      return 0;
    p++;
  }
  return (size_t)(p + 1 - s);
}

static void skip(struct parser *parser) {
  for (;;) {
    parser->at += strspn(parser->at, " \t\b");
    if (*parser->at == '#') {
      parser->at += strcspn(parser->at, "\n");
    } else if (*parser->at != '\0' && strchr("\n</>\"", *parser->at) == NULL &&
               strspn(parser->at, WORD) == 0 && number_len(parser->at) == 0) {
      parser->at++; /* the lexer echoes it and goes on */
    } else {
      return;
    }
  }
}

/* The longest token, and of equally long ones the lexer's first. */
static void next(struct parser *parser) {
  static const char marks[] = "\n<>/";
  static const enum token mark_tokens[] = {EOL, OPEN, CLOSE, SLASH};

  skip(parser);
  const char *s = parser->at;
  const char *mark = *s == '\0' ? NULL : strchr(marks, *s);
  size_t number = number_len(s), word = strspn(s, WORD);
  parser->text = s;
  parser->len = 1;
  if (mark != NULL) {
    parser->token = mark_tokens[mark - marks];
  } else if (*s == '"') {
    parser->token = QUOTED;
    parser->len = quoted_len(s);
  } else if (number > 0 && number >= word) {
    parser->token = NUMBER;
    parser->len = number;
  } else if (word > 0) {
    parser->token = is_boolean(s, word) ? BOOLEAN : WORDS;
    parser->len = word;
  }
  if (*s == '\0' || parser->len == 0) {
    parser->token = END;
    parser->len = 0;
  }
  parser->at = s + parser->len;
}

static bool take(struct parser *parser, enum token token) {
  if (parser->token != token)
    return false;
  next(parser);
  return true;
}

static char *unquote(const char *s, size_t len) {
  char *text = must(malloc(len + 1));
  size_t n = 0;
  for (size_t i = 0; i < len; i++) {
    if (s[i] == '\\' && i + 1 < len)
      i++;
    text[n++] = s[i];
  }
  text[n] = '\0';
  return text;
}

static void parse_values(struct parser *parser, oconfig_item_t *item) {
  for (; parser->token >= BOOLEAN; next(parser)) {
    oconfig_value_t value = {.type = OCONFIG_TYPE_STRING};
    if (parser->token == BOOLEAN) {
      value.type = OCONFIG_TYPE_BOOLEAN;
      value.value.boolean = strchr("ty", parser->text[0]) != NULL ||
                            strncmp(parser->text, "on", 2) == 0;
    } else if (parser->token == NUMBER) {
      value.type = OCONFIG_TYPE_NUMBER;
      char *number = must(strndup(parser->text, parser->len));
      value.value.number = strtod(number, NULL);
      free(number);
    } else if (parser->token == QUOTED) {
      value.value.string = unquote(parser->text + 1, parser->len - 2);
    } else {
      value.value.string = must(strndup(parser->text, parser->len));
    }
    size_t num = (size_t)item->values_num + 1;
    item->values = must(realloc(item->values, num * sizeof(*item->values)));
    item->values[item->values_num++] = value;
  }
}

static bool parse_lines(struct parser *parser, oconfig_item_t *parent);

/* "KEY VALUE..." or "<KEY VALUE...>", lines and "</KEY>", with its line end. */
static bool parse_item(struct parser *parser, oconfig_item_t *item) {
  bool is_block = take(parser, OPEN);
  if (parser->token != WORDS)
    return false;
  item->key = must(strndup(parser->text, parser->len));
  next(parser);
  parse_values(parser, item);
  if (is_block) {
    if (!take(parser, CLOSE) || !take(parser, EOL) ||
        !parse_lines(parser, item) || parser->token != WORDS ||
        parser->len != strlen(item->key) ||
        strncmp(parser->text, item->key, parser->len) != 0)
      return false;
    next(parser);
    if (!take(parser, CLOSE))
      return false;
  }
  return parser->token == END || take(parser, EOL);
}

/* Up to and with the "</" of the block around them, or to the end. */
static bool parse_lines(struct parser *parser, oconfig_item_t *parent) {
  for (;;) {
    while (take(parser, EOL))
      ;
    if (parser->token == END)
      return true;
    struct parser before = *parser;
    if (take(parser, OPEN) && take(parser, SLASH))
      return true;
    *parser = before;

    size_t num = (size_t)parent->children_num + 1;
    parent->children =
        must(realloc(parent->children, num * sizeof(*parent->children)));
    oconfig_item_t *child = &parent->children[parent->children_num++];
    *child = (oconfig_item_t){0};
    if (!parse_item(parser, child))
      return false;
  }
}

oconfig_item_t *oconfig_text__parse(const char *text) {
  oconfig_item_t *root = must(calloc(1, sizeof(*root)));
  root->key = must(strdup("Plugin"));
  root->values = must(calloc(1, sizeof(*root->values)));
  root->values[0].value.string = must(strdup("ebpf_latency"));
  root->values_num = 1;

  struct parser parser = {.at = text};
  next(&parser);
  if (parse_lines(&parser, root) && parser.token == END && *parser.at == '\0')
    return root;
  oconfig_text__free(root);
  return NULL;
}

static void free_inside(oconfig_item_t *item) {
  for (int i = 0; i < item->children_num; i++)
    free_inside(&item->children[i]);
  for (int i = 0; i < item->values_num; i++)
    if (item->values[i].type == OCONFIG_TYPE_STRING)
      free(item->values[i].value.string);
  free(item->children);
  free(item->values);
  free(item->key);
}

void oconfig_text__free(oconfig_item_t *item) {
  if (item == NULL)
    return;
  free_inside(item);
  free(item);
}
