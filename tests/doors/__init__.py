"""Ways in that are no Gateways."""
