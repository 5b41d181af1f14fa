// `octavo bench`: the performance lab's command line.
#pragma once

// octavo bench play|floor|... ; argv[0] is "bench". Returns the exit code.
int bench_main(int argc, char **argv);
// octavo bench play: runs one load plan against a server; argv[0] is "play".
int bench_play(int argc, char **argv);
