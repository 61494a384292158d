"""Plans: documents with fixed sections and an objective, plan and assessment in each of them."""
