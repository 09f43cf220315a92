// Exports nothing at all.
