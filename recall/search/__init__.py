"""From a question to headlines: ranking, how much to hand over, and how it is written."""
