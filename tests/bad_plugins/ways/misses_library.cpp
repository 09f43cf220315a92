// Needs a library that is not there.
int absent();
int call_absent() { return absent(); }
