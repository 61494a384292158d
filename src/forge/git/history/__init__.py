"""What happened: log, graph, blame, differences, patches, renames, revisions, export."""
