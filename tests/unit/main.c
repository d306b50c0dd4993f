/* SPDX-License-Identifier: MIT */
/*
 * main() of every unit test: runs the one suite of the test file that it is
 * linked with. Check's own environment variables apply (CK_VERBOSITY, CK_FORK).
 */
#include <check.h>
#include <stdlib.h>

Suite *test_suite(void);

int main(void) {
  SRunner *runner = srunner_create(test_suite());
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
