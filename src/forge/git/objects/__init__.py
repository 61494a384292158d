"""Objects as git stores them: read, cached, packed, compared by tree."""
