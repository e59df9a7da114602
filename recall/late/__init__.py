"""Late interaction: token vectors kept small, the scores on them, and the bank of everyday messages."""
