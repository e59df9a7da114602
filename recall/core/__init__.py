"""Values that every part of the program shares: types, errors, configuration and the log."""
