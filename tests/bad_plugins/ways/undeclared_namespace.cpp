// Registers torch operators and does not say so.
extern "C" int _ZN5torch7LibraryC1Ev();
int call() { return _ZN5torch7LibraryC1Ev(); }
