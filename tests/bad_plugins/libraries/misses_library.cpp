// There when the plugin is linked, and gone when it is opened.
int absent() { return 1; }
