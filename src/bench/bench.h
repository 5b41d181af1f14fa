// `octavo bench`: the performance lab's command line.
#pragma once

// All take the arguments behind their own name and return the exit code.

// octavo bench play|floor|...
int bench_main(int argc, char **argv);
// octavo bench run: runs an experiment.
int bench_run(int argc, char **argv);
// octavo bench check, plan, list, note, watch: what is said about experiments and runs.
int bench_check(int argc, char **argv);
int bench_plan(int argc, char **argv);
int bench_list(int argc, char **argv);
int bench_note(int argc, char **argv);
int bench_watch(int argc, char **argv);
// octavo bench selfcheck: speed and truth of the load driver.
int bench_selfcheck(int argc, char **argv);
// octavo bench play: runs one load plan against a server.
int bench_play(int argc, char **argv);
// octavo bench report, compare: reports of stored results.
int bench_report(int argc, char **argv);
int bench_compare(int argc, char **argv);
