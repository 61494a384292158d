"""What a branch needs to run: found in its files, approved by a person, set up once, mounted into every command."""
