"""Writers: values in, one text out. They know nothing of git, of YAML and of rules."""
