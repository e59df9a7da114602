"""recall brings a person's own past notes in front of the model at the moment they matter."""
