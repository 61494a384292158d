"""What commands share: parser, output, pager, progress, completion, prompts at a terminal."""
