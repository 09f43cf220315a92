// Needs a library of names which the host has, too, but nobody calls them.
int second_copy();
int call() { return second_copy(); }
