"""Where records come from: the files of a person that are worth recalling."""
