// Needs a library that calls itself by names which the host has, too.
extern "C" int call_copy();
int call() { return call_copy(); }
