// Brings a libtorch of its own.
extern "C" int _ZN3c1010Dispatcher13realSingletonEv();
int call() { return _ZN3c1010Dispatcher13realSingletonEv(); }
