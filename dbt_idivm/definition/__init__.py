"""What a model is, and which plan has it: from the request and what is known of its inputs to a plan, or the reason for none."""
