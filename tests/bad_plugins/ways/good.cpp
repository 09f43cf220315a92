// Nothing is wrong with this one.
