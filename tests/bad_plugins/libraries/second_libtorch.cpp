// Has the one symbol that each libtorch has once.
extern "C" int _ZN3c1010Dispatcher13realSingletonEv() { return 1; }
