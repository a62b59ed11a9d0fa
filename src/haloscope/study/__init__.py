"""What is asked: studies, the cases they become, and whether these can run."""
